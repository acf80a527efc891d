import { iso } from '../basics/clock.ts'
import type { ErrorCode } from '../basics/errors.ts'
import { resetFactors } from '../factors/factors.ts'
import { sendData } from '../http/response/send.ts'
import { createLink, type LinkSettings } from '../links/links.ts'
import { deleteUser, setDisabled, signOutUser } from '../users/access/access.ts'
import { findUser, type UserDependencies, type UserKey, userKey } from '../users/find-user.ts'
import { listUsers } from '../users/users.store.ts'
import * as shapes from './operator.schemas.ts'
import { forOperator, type OperatorNeeds, recordAct, sendVisible, usersOf } from './operator.ts'
import { maxFound, searchUsers } from './people.store.ts'
import { displayPerson, type PersonNeeds, wholePerson } from './people.ts'

type Needs = OperatorNeeds & PersonNeeds

export const search = forOperator({
  summary: `The users by id; or the first ${maxFound} whose name, address or external id begins with a text, or whose id it is`,
  query: shapes.PeopleQuery,
  responses: { 200: shapes.PeopleResponse },
  async handle({ store }: OperatorNeeds, request, reply) {
    const { search: text = '', after = '', limit = 20 } = request.query
    const isSearch = text !== ''
    const found = isSearch
      ? await store.read(searchUsers, text)
      : await store.read(listUsers, { after, limit: limit + 1 })
    const items = isSearch ? found : found.slice(0, limit)
    const next = found.length > items.length ? (items.at(-1)?.id ?? null) : null
    return sendVisible(reply, { items: items.map(displayPerson), next })
  },
})

export const one = forOperator({
  summary:
    'One user with sign-ins, devices, factors and the counts of the inbox; the view is in the audit log',
  responses: { 200: shapes.PersonResponse },
  async handle(needs: Needs, request, reply) {
    const user = await findUser(needs.users, userKey(request))
    const { id: userId, username } = user
    await recordAct(needs, request, { event: 'user-viewed', userId, username })
    return sendVisible(reply, await wholePerson(needs, user))
  },
})

type Act = (users: UserDependencies, key: UserKey) => Promise<unknown>

function actRoute(summary: string, act: Act, refusals: readonly ErrorCode[] = []) {
  return forOperator({
    summary,
    refusals,
    async handle(needs: OperatorNeeds, request) {
      await act(usersOf(needs, request), userKey(request))
    },
  })
}

export const endSignIns = actRoute(
  'End every session and token of a user, who can sign in again',
  signOutUser,
)

export const removeFactors = actRoute(
  'Remove every second factor and passkey of a user; every session and token ends',
  async (users, key) => resetFactors(users, await findUser(users, key)),
)

export const disable = actRoute(
  'Disable a user: every session and token ends',
  (users, key) => setDisabled(users, key, true),
  ['CONFLICT'],
)

export const enable = actRoute('Enable a disabled user', (users, key) =>
  setDisabled(users, key, false),
)

export const erase = actRoute(
  'Erase a user with inbox, sessions and tokens; this cannot be undone',
  deleteUser,
  ['CONFLICT'],
)

export const link = forOperator({
  summary: 'A link by which a user sets a password, once; this response alone has it',
  body: shapes.OperatorLinkBody,
  responses: { 201: shapes.OperatorLinkResponse },
  refusals: ['CONFLICT'],
  async handle(needs: OperatorNeeds & { links: LinkSettings }, request, reply) {
    const { url, expiresAt } = await createLink(
      usersOf(needs, request),
      needs.links,
      userKey(request),
      request.body,
    )
    return sendData(reply.code(201), { url, expiresAt: iso(expiresAt) })
  },
})
