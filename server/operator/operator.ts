// Who may open /operator. Other origins, tokens and keys open nothing (O1).
import type { FastifyReply, FastifyRequest } from 'fastify'
import { record } from '../audit/audit.store.ts'
import { type Facts, recorded, sourceOf } from '../audit/entry.ts'
import { iso } from '../basics/clock.ts'
import { escapeControls } from '../basics/control-characters.ts'
import { CarillonError, forbidden, noSuchRoute, setupOnly } from '../basics/errors.ts'
import type { Finding } from '../doctor/finding.ts'
import { factorsOf } from '../factors/factors.store.ts'
import { refusedProof } from '../guards/refused-proof.ts'
import { type Guard, type GuardedRequest, operationFor, type Subject } from '../http/operation.ts'
import { sessionSecret } from '../http/request/credentials.ts'
import { comesFromOtherSite } from '../http/requests.ts'
import { sendJson } from '../http/response/send.ts'
import type { Site } from '../http/site.ts'
import { refuseStale } from '../sessions/own-sign-in.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { Store } from '../store/store.ts'
import type { UserDependencies } from '../users/find-user.ts'
import { findUser } from '../users/users.store.ts'

/** `needsFactor`: other machines reach the service, so a password alone is not enough. */
export type OperatorPage = {
  needsFactor: boolean
  findings: () => Promise<Finding[]>
  /** Null for a database on a server. */
  freeBytes: () => number | null
}
export type OperatorNeeds = {
  site: Site
  store: Store
  users: UserDependencies
  pages: { hasOperatorPage: boolean }
  operatorPage: OperatorPage
}
type GuardNeeds = OperatorNeeds & { sessions: Pick<Sessions, 'verify'> }

/** Admits a session from a page of this origin. Each request reads the role. */
export const operator: Guard<GuardNeeds, Subject> = {
  name: 'operator',
  refusals: ['UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND', 'FRESH_SIGN_IN_REQUIRED'],
  admit: admitOperator,
}

/** Every change needs it, and what displays a secret. */
export const freshOperator: Guard<GuardNeeds, Subject> = {
  ...operator,
  async admit(needs, request) {
    const subject = await admitOperator(needs, request)
    refuseStale(subject, needs.users.now())
    return subject
  },
}

export const forOperator = operationFor<Subject>()

async function admitOperator(needs: GuardNeeds, request: FastifyRequest): Promise<Subject> {
  const { sessions, site, store, pages } = needs
  if (!pages.hasOperatorPage) throw noSuchRoute()
  const { authorization, cookie, origin } = request.raw.headers
  const secret = authorization === undefined ? sessionSecret(cookie, site.cookie.name) : null
  const subject = secret === null ? null : await sessions.verify(secret)
  if (subject === null) throw refusedProof(request, 'operator')
  if (subject.scope !== undefined) throw setupOnly()
  const isPlain = site.isHttps && origin?.startsWith('http:')
  if (isPlain || comesFromOtherSite(request, []))
    throw forbidden(
      'This request comes from another origin',
      'Send it from the page /operator of this service.',
    )
  const user = await store.read(findUser, subject.userId)
  if (user?.role !== 'operator' || user.disabledAt !== null)
    throw forbidden('This is for operators', 'Get the role: carillon user role NAME operator.')
  await refuseWithoutFactor(needs, subject)
  return subject
}

/**
 * Throws FORBIDDEN without a second factor, FRESH_SIGN_IN_REQUIRED if the sign-in is older than the
 * first factor: its password may be a thief's.
 */
async function refuseWithoutFactor(
  { store, operatorPage }: OperatorNeeds,
  subject: Subject,
): Promise<void> {
  if (!operatorPage.needsFactor) return
  const since = await factorTimes(store, subject.userId)
  if (since.length === 0)
    throw forbidden(
      'An operator needs a passkey or a second factor',
      'Add one on the account page first.',
    )
  if (subject.confirmedAt < Math.min(...since))
    throw new CarillonError(
      'FRESH_SIGN_IN_REQUIRED',
      'This sign-in has not proved a passkey or a second factor yet',
      {
        remedy: 'Confirm it: POST /api/me/confirm.',
      },
    )
}

export async function factorTimes(store: Store, userId: string): Promise<number[]> {
  const { factors } = await store.read(factorsOf, userId)
  return factors.flatMap(({ confirmedAt }) => confirmedAt ?? [])
}

export function usersOf(needs: OperatorNeeds, request: GuardedRequest<Subject>): UserDependencies {
  const actor = `operator:${request.caller.userId}`
  return { ...needs.users, source: { ...sourceOf(needs, request), actor } }
}

export async function recordAct(
  needs: OperatorNeeds,
  request: GuardedRequest<Subject>,
  facts: Facts,
): Promise<void> {
  await needs.store.write(record, recorded(usersOf(needs, request), facts).audit)
}

export function sendVisible(reply: FastifyReply, data: unknown): FastifyReply {
  return sendJson(reply, visibleJson({ success: true, data }))
}

const times = /^(at|since|until)$|(At|Until)$/

/** Times are milliseconds. Control characters and those that turn text become visible escapes. */
export function visibleJson(data: unknown): string {
  return JSON.stringify(data, (name, value) => {
    if (typeof value === 'string') return escapeControls(value)
    return typeof value === 'number' && times.test(name) ? iso(value) : value
  })
}
