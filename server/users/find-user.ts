// Finds a user by id, external id or username; an application finds only its own.
import { record } from '../audit/audit.store.ts'
import { recorded, type Source, sourceOf } from '../audit/entry.ts'
import { type CarillonError, noSuchRoute, notAuthenticated, notFound } from '../basics/errors.ts'
import type { GuardedRequest, ProducerCaller, Subject } from '../http/operation.ts'
import type { Site } from '../http/site.ts'
import type { Passwords } from '../passwords/passwords.ts'
import type { PasswordRules } from '../passwords/policy.ts'
import type { Store } from '../store/store.ts'
import type { TokenRevocations } from '../tokens/revocations.ts'
import { listOperators } from './access/roles.store.ts'
import type { Recogniser } from './erasure/erased-ids.ts'
import { findableUsername } from './username.ts'
import type { User } from './users.store.ts'
import * as stored from './users.store.ts'

export type UserDependencies = PasswordRules & {
  store: Store
  passwords: Passwords
  now: () => number
  application?: string | undefined
  source?: Source
  revocations?: Pick<TokenRevocations, 'refresh'>
  erased: Recogniser
}

export type UserKey = { id: string } | { externalId: string } | { username: string }

export type Finding = Pick<UserDependencies, 'store' | 'application'>

export async function findUser(dependencies: Finding, key: UserKey): Promise<User> {
  const user = await lookUp(dependencies, key)
  if (user === undefined || !isInReach(dependencies, user)) throw noSuchUser(key)
  return user
}

/** A key finds no user with a role: its holder could become an operator. Attempts are audited. */
export async function findChangeable(dependencies: UserDependencies, key: UserKey): Promise<User> {
  const user = await findUser(dependencies, key)
  if (user.role === null || !isByKey(dependencies)) return user
  const facts = { event: 'key-refused', userId: user.id, username: user.username } as const
  await dependencies.store.write(record, recorded(dependencies, facts).audit)
  throw noSuchUser(key)
}

export function isByKey({ source }: UserDependencies): boolean {
  return source?.actor.startsWith('producer:') ?? false
}

export async function refuseOperators(
  dependencies: UserDependencies,
  entries: readonly { externalId: string | null }[],
): Promise<void> {
  if (!isByKey(dependencies)) return
  const { store, application = '' } = dependencies
  const named = new Set(entries.map(({ externalId }) => externalId))
  for (const operator of await store.read(listOperators))
    if (
      operator.application === application &&
      operator.issuer === '' &&
      named.has(operator.externalId)
    )
      await findChangeable(dependencies, { id: operator.id })
}

export function isInReach({ application }: Finding, user: User): boolean {
  return !application || user.application === application
}

export async function lookUp(
  { store, application }: Finding,
  key: UserKey,
): Promise<User | undefined> {
  if ('id' in key) return store.read(stored.findUser, key.id)
  if ('externalId' in key)
    return store.read(stored.findUserByExternalId, { application, externalId: key.externalId })
  const username = findableUsername(key.username)
  return username === undefined ? undefined : store.read(stored.findUserByUsername, username)
}

export function noSuchUser(key: UserKey): CarillonError {
  if ('username' in key) return notFound(`There is no user ${key.username}`)
  return notFound(`There is no user with this ${'id' in key ? 'id' : 'external id'}`)
}

/** Throws UNAUTHORIZED if the user was disabled or deleted. */
export async function findEnabledUser(
  dependencies: { store: Store },
  caller: Subject,
): Promise<User> {
  const user = await readerOf(dependencies, caller)
  if (user === undefined) throw notAuthenticated()
  return user
}

export async function readerOf(
  { store }: { store: Store },
  proof?: { userId: string } | null,
): Promise<User | undefined> {
  const user = proof ? await store.read(stored.findUser, proof.userId) : undefined
  return user?.disabledAt === null ? user : undefined
}

/** `/api/users/external/` is not a route. */
export function userKey({ params: { id, externalId } }: Pick<GuardedRequest, 'params'>): UserKey {
  if (externalId === '') throw noSuchRoute()
  // RFC 9562, section 4, allows upper case.
  return externalId === undefined ? { id: id.toLowerCase() } : { externalId }
}

export type UserNeeds = { users: UserDependencies; site: Pick<Site, 'trustedProxies'> }

export function usersFor(
  needs: UserNeeds,
  request: GuardedRequest<ProducerCaller>,
): UserDependencies {
  const { id, application } = request.caller
  return {
    ...needs.users,
    application,
    source: { ...sourceOf(needs, request), actor: `producer:${id}` },
  }
}
