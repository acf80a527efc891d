// The routes by which an application keeps its users: one by external id or by id, a list, and up to 1,000 at once.
import type { FastifyReply } from 'fastify'
import { CarillonError, type Fault, invalidRequest, noSuchRoute } from '../../errors.ts'
import { type EntryFault, importUsers } from '../../sign-in/users/import.ts'
import { addUser, changeUser, deleteUser, findUser, putUser } from '../../sign-in/users/users.ts'
import type { Producer, User } from '../../store/store.ts'
import type { Dependencies } from '../dependencies.ts'
import {
  NewUser,
  UncheckedEntries,
  UserChange,
  UserEntries,
  UserProfile,
  UserQuery,
} from '../openapi/request-schemas.ts'
import { usersFor } from '../request/source.ts'
import { maxKeys } from '../request/strict-json.ts'
import { displayAccount, sendData } from '../response/send.ts'
import type { GuardedRequest, Operation } from './operation.ts'

type Request = GuardedRequest<Producer>

/** A profile of the longest texts, each character sent as an escape. */
const profileLimit = 16 * 1024
/** 1,000 users, each with the longest texts. */
const entriesLimit = 4 * 1024 * 1024

export const list: Operation<Producer> = {
  id: 'listUsers',
  tag: 'users',
  summary: 'The users in the order of their creation, in pages; all, or those that a search finds',
  query: UserQuery,
  responses: { 200: 'UserPageResponse' },
  handle: listUsers,
}

async function listUsers(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  const { limit = 20, after = '', search, externalId } = request.query as UserQuery
  const filter = { ...(search !== undefined && { search }), ...(externalId !== undefined && { externalId }) }
  const { store, application } = usersFor(dependencies, request)
  const found = await store.listUsers({ after, limit: limit + 1, application, ...filter })
  const items = found.slice(0, limit)
  const next = found.length > limit ? (items.at(-1)?.id ?? null) : null
  return sendData(reply, { items: items.map(displayAccount), next })
}

export const create: Operation<Producer> = {
  id: 'createUser',
  tag: 'users',
  summary: 'Create a user who signs in here, by username and a password or the hash of one',
  body: NewUser,
  bodyLimit: profileLimit,
  responses: { 201: 'UserAccountResponse' },
  refusals: ['CONFLICT'],
  handle: createUser,
}

async function createUser(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  return sendUser(reply.code(201), await addUser(usersFor(dependencies, request), request.body as NewUser))
}

export const putMany: Operation<Producer> = {
  id: 'putUsers',
  tag: 'users',
  summary: 'Create or change up to 1,000 users by external id: all of them, or none if one has a fault',
  body: UserEntries,
  shallowBody: UncheckedEntries,
  bodyLimit: entriesLimit,
  maxFields: maxKeys,
  responses: { 200: 'UserPutsResponse' },
  refusals: ['CONFLICT'],
  handle: putUsers,
}

async function putUsers(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  const { users } = request.body as UncheckedEntries
  const outcome = await importUsers(usersFor(dependencies, request), users, { needsExternalId: true })
  if ('faults' in outcome) throw refusalOf(outcome.faults)
  const results = outcome.imported.map(({ user, created }) => {
    return { externalId: user.externalId, status: created ? 'created' : 'updated', user: displayAccount(user) }
  })
  return sendData(reply, { results })
}

/** CONFLICT if every entry is sound and a name belongs to another user. */
function refusalOf(faults: readonly EntryFault[]): CarillonError {
  const details = faults.map(({ position, field, reason, sameAs }): Fault => {
    const place = `users.${position}${field === '' ? '' : `.${field}`}`
    return { field: place, reason: sameAs === undefined ? reason : `is the same as in users.${sameAs}` }
  })
  if (!faults.every(({ isTaken }) => isTaken)) return invalidRequest(details)
  return new CarillonError('CONFLICT', 'A username is taken', { details })
}

export const put: Operation<Producer> = {
  id: 'putExternalUser',
  tag: 'users',
  summary: 'Create the user with this external id (201), or change the fields that are given (200)',
  freeText: 'externalId',
  body: UserProfile,
  bodyLimit: profileLimit,
  responses: { 200: 'UserAccountResponse', 201: 'UserAccountResponse' },
  handle: putExternalUser,
}

async function putExternalUser(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  const users = usersFor(dependencies, request)
  const { user, created } = await putUser(users, externalIdOf(request), request.body as UserProfile)
  return sendUser(reply.code(created ? 201 : 200), user)
}

export const one: Operation<Producer> = {
  id: 'getUser',
  tag: 'users',
  summary: 'A user, by id',
  responses: { 200: 'UserAccountResponse' },
  handle: getUser,
}

async function getUser(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  return sendUser(reply, await findUser(usersFor(dependencies, request), { id: idOf(request) }))
}

export const oneExternal: Operation<Producer> = {
  ...one,
  id: 'getExternalUser',
  summary: 'A user, by external id',
  freeText: 'externalId',
  handle: getExternalUser,
}

async function getExternalUser(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  return sendUser(reply, await findUser(usersFor(dependencies, request), { externalId: externalIdOf(request) }))
}

export const change: Operation<Producer> = {
  id: 'updateUser',
  tag: 'users',
  summary: 'Change the fields that are given, by id',
  body: UserChange,
  bodyLimit: profileLimit,
  responses: { 200: 'UserAccountResponse' },
  refusals: ['CONFLICT'],
  handle: updateUser,
}

async function updateUser(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  const users = usersFor(dependencies, request)
  return sendUser(reply, await changeUser(users, { id: idOf(request) }, request.body as UserChange))
}

export const changeExternal: Operation<Producer> = {
  ...change,
  id: 'updateExternalUser',
  summary: 'Change the fields that are given, by external id',
  freeText: 'externalId',
  handle: updateExternalUser,
}

async function updateExternalUser(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  const users = usersFor(dependencies, request)
  const user = await changeUser(users, { externalId: externalIdOf(request) }, request.body as UserChange)
  return sendUser(reply, user)
}

export const erase: Operation<Producer> = {
  id: 'deleteUser',
  tag: 'users',
  summary: 'Erase a user, by id: the inbox, sessions and tokens; open streams end',
  responses: { 204: 'none' },
  handle: eraseUser,
}

async function eraseUser(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  await deleteUser(usersFor(dependencies, request), { id: idOf(request) })
  return reply.code(204).send()
}

export const eraseExternal: Operation<Producer> = {
  ...erase,
  id: 'deleteExternalUser',
  summary: 'The same, by external id',
  freeText: 'externalId',
  handle: eraseExternalUser,
}

async function eraseExternalUser(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  await deleteUser(usersFor(dependencies, request), { externalId: externalIdOf(request) })
  return reply.code(204).send()
}

/** Ids are in lower case; a UUID may be sent in upper case (RFC 9562, section 4). */
export function idOf({ params }: Request): string {
  return (params as { id: string }).id.toLowerCase()
}

/** Throws NOT_FOUND for an empty one: `/api/users/external/` is not a route. */
export function externalIdOf({ params }: Request): string {
  const { externalId } = params as { externalId: string }
  if (externalId === '') throw noSuchRoute()
  return externalId
}

function sendUser(reply: FastifyReply, user: User): FastifyReply {
  return sendData(reply, displayAccount(user))
}
