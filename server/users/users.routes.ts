import type { FastifyReply } from 'fastify'
import { CarillonError, type Fault, invalidRequest } from '../basics/errors.ts'
import { maxKeys } from '../basics/strict-json.ts'
import { forProducer } from '../http/operation.ts'
import { sendData, sendPageOf } from '../http/response/send.ts'
import { deleteUser, signOutUser } from './access/access.ts'
import { displayAccount } from './display-user.ts'
import { findUser, type UserNeeds, userKey, usersFor } from './find-user.ts'
import { type EntryFault, importUsers, putUser } from './import.ts'
import * as shapes from './users.schemas.ts'
import { type AddedUser, listUsers } from './users.store.ts'
import { addUser, changeUser } from './users.ts'

const profileLimit = 16 * 1024
const entriesLimit = 4 * 1024 * 1024

export const list = forProducer({
  summary: 'The users in the order of their creation, in pages; all, or those that a search finds',
  query: shapes.UserQuery,
  responses: { 200: shapes.UserPageResponse },
  async handle(dependencies: UserNeeds, request, reply) {
    const { limit = 20, after = '', ...filter } = request.query
    const { store, application } = usersFor(dependencies, request)
    const found = await store.read(listUsers, { after, limit: limit + 1, application, ...filter })
    return sendPageOf(reply, { found, limit, display: displayAccount })
  },
})

export const create = forProducer({
  summary: 'Create a user who signs in here, by username and a password or the hash of one',
  body: shapes.NewUser,
  bodyLimit: profileLimit,
  responses: { 201: shapes.UserAccountResponse },
  refusals: ['CONFLICT'],
  async handle(dependencies: UserNeeds, request, reply) {
    return sendUser(reply.code(201), await addUser(usersFor(dependencies, request), request.body))
  },
})

export const putMany = forProducer({
  summary:
    'Create or change up to 1,000 users by external id: all of them, or none if one has a fault',
  body: shapes.UserEntries,
  shallowBody: shapes.UncheckedEntries,
  bodyLimit: entriesLimit,
  maxFields: maxKeys,
  responses: { 200: shapes.UserPutsResponse },
  refusals: ['CONFLICT', 'NOT_FOUND'],
  async handle(dependencies: UserNeeds, request, reply) {
    const { users } = request.body
    const outcome = await importUsers(usersFor(dependencies, request), users, {
      needsExternalId: true,
    })
    if ('faults' in outcome) throw refusalOf(outcome.faults)
    const results = outcome.imported.map(({ user, created }) => {
      const { externalId, erased } = user
      const status = created ? 'created' : 'updated'
      return { externalId, status, ...(erased && { erased }), user: displayAccount(user) }
    })
    return sendData(reply, { results })
  },
})

/** The name is another user's. */
function refusalOf(faults: readonly EntryFault[]): CarillonError {
  const details = faults.map(({ position, field, reason, sameAs }): Fault => {
    const place = `users.${position}${field === '' ? '' : `.${field}`}`
    return {
      field: place,
      reason: sameAs === undefined ? reason : `is the same as in users.${sameAs}`,
    }
  })
  if (!faults.every(({ isTaken }) => isTaken)) return invalidRequest(details)
  return new CarillonError('CONFLICT', 'A username is taken', { details })
}

export const put = forProducer({
  summary: 'Create the user with this external id (201), or change the fields that are given (200)',
  body: shapes.UserProfile,
  bodyLimit: profileLimit,
  responses: { 200: shapes.UserAccountResponse, 201: shapes.UserAccountResponse },
  async handle(dependencies: UserNeeds, request, reply) {
    const { user, created } = await putUser(usersFor(dependencies, request), {
      ...request.body,
      ...userKey(request),
    })
    return sendUser(reply.code(created ? 201 : 200), user)
  },
})

export const one = forProducer({
  summary: 'A user, by id',
  responses: { 200: shapes.UserAccountResponse },
  async handle(dependencies: UserNeeds, request, reply) {
    return sendUser(reply, await findUser(usersFor(dependencies, request), userKey(request)))
  },
})

export const oneExternal = { ...one, summary: 'A user, by external id' }

export const change = forProducer({
  summary: 'Change the fields that are given, by id',
  body: shapes.UserChange,
  bodyLimit: profileLimit,
  responses: { 200: shapes.UserAccountResponse },
  refusals: ['CONFLICT'],
  async handle(dependencies: UserNeeds, request, reply) {
    return sendUser(
      reply,
      await changeUser(usersFor(dependencies, request), userKey(request), request.body),
    )
  },
})

export const changeExternal = {
  ...change,
  summary: 'Change the fields that are given, by external id',
}

export const erase = forProducer({
  summary: 'Erase a user, by id: the inbox, sessions and tokens; open streams end',
  async handle(dependencies: UserNeeds, request) {
    await deleteUser(usersFor(dependencies, request), userKey(request))
  },
})

export const eraseExternal = { ...erase, summary: 'The same, by external id' }

export const signOut = forProducer({
  summary:
    'Ends every session and token of a user, by id; open streams end, and the user can sign in again',
  async handle(dependencies: UserNeeds, request) {
    await signOutUser(usersFor(dependencies, request), userKey(request))
  },
})

export const signOutExternal = { ...signOut, summary: 'The same, by external id' }

function sendUser(reply: FastifyReply, user: AddedUser): FastifyReply {
  return sendData(reply, displayAccount(user))
}
