// The routes by which users see where they are signed in, and end a sign-in: one, all others, or one that another person made.
import type { FastifyReply } from 'fastify'
import { isIdShaped, madeAt } from '../../../ids.ts'
import { auditEntry } from '../../../sign-in/audit/entry.ts'
import type { EventName } from '../../../sign-in/audit/events.ts'
import { refuseStale } from '../../../sign-in/factors/freshness.ts'
import type { DisplayedSignIn, OwnSignIn } from '../../../sign-in/sign-ins.ts'
import type { Subject } from '../../../sign-in/subject.ts'
import type { AuditEntry } from '../../../store/store.ts'
import { iso } from '../../../times.ts'
import type { Dependencies } from '../../dependencies.ts'
import { SessionsQuery } from '../../openapi/request-schemas.ts'
import { ownSignIn } from '../../request/own-sign-in.ts'
import { presentedDevices } from '../../request/presented-devices.ts'
import { type RequestSource, sourceOf } from '../../request/source.ts'
import { setCookie } from '../../response/cookies.ts'
import { sendData } from '../../response/send.ts'
import type { GuardedRequest, Operation } from '../operation.ts'
import { deviceOf } from '../sign-in/finish-sign-in.ts'
import { findEnabledUser } from '../sign-in/sign-in.ts'

type Request = GuardedRequest<Subject>

export const list: Operation<Subject> = {
  id: 'listSessions',
  tag: 'sign-in',
  summary:
    'Where the user is signed in, in both variants, in pages: the sign-in of this request first, then newest first',
  query: SessionsQuery,
  responses: { 200: 'UserSessionPageResponse' },
  handle: listSessions,
}

async function listSessions(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  const { limit = 100, after } = request.query as SessionsQuery
  const { own } = ownOf(dependencies, request)
  const { items, next } = await dependencies.signIns.list(own, { after, limit })
  return sendData(reply, { items: items.map(displaySignIn), next })
}

function displaySignIn({ id, current, variant, device, address, ...times }: DisplayedSignIn) {
  const [createdAt, lastSeenAt, expiresAt] = [times.createdAt, times.lastSeenAt, times.expiresAt].map(iso)
  return { id, current, variant, device, address, createdAt, lastSeenAt, expiresAt }
}

export const end: Operation<Subject> = {
  id: 'endSession',
  tag: 'sign-in',
  summary: 'End one sign-in of the user, with its tokens and streams; without a recent sign-in, only a newer one',
  responses: { 204: 'none' },
  refusals: ['NOT_FOUND', 'FRESH_SIGN_IN_REQUIRED', 'TOO_MANY_REQUESTS'],
  handle: endSession,
}

/** A stolen sign-in must not end its owner's, which began before it (S18). The id has the time of the sign-in, whether there is one or not. */
async function endSession(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  const { own, source } = ownOf(dependencies, request)
  const signInId = idOf(request)
  const isNewer = isIdShaped(signInId) && madeAt(signInId) > own.signedInAt
  if (!isNewer && signInId !== own.signInId) refuseStale(request.caller, dependencies.users.now())
  const audit = auditOf(dependencies, { event: 'session-ended', source, own, signInId })
  await dependencies.signIns.end(own, { signInId, audit })
  removeCookie(dependencies, reply, own.proof === 'session' && signInId === own.signInId)
  return reply.code(204).send()
}

export const endOthers: Operation<Subject> = {
  id: 'endOtherSessions',
  tag: 'sign-in',
  summary:
    'End every other sign-in of the user, with tokens and streams; also the tokens that applications got for the user',
  responses: { 204: 'none' },
  refusals: ['TOO_MANY_REQUESTS'],
  handle: endOtherSessions,
}

async function endOtherSessions(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  const { own, source, excepted } = ownOf(dependencies, request)
  const audit = auditOf(dependencies, { event: 'sessions-ended', source, own, signInId: own.signInId })
  await dependencies.signIns.endOthers(own, { ...excepted, audit })
  return reply.code(204).send()
}

export const disown: Operation<Subject> = {
  id: 'disownSession',
  tag: 'sign-in',
  summary: '"That was not me": end a sign-in of the user and ask for a new password',
  responses: { 200: 'DisownedResponse' },
  refusals: ['NOT_FOUND', 'TOO_MANY_REQUESTS'],
  handle: disownSession,
}

async function disownSession(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  const { own, source } = ownOf(dependencies, request)
  const signInId = idOf(request)
  const audit = auditOf(dependencies, { event: 'sign-in-disowned', source, own, signInId })
  const device = { ...deviceOf(dependencies, source, true), isKnown: true }
  await dependencies.signIns.disown(own, { signInId, audit, device })
  removeCookie(dependencies, reply, own.proof === 'session' && signInId === own.signInId)
  const deviceToken = await newDeviceToken(dependencies, request)
  if (own.proof === 'session') setCookie(reply, dependencies.deviceCookie, deviceToken)
  return sendData(reply, { passwordChangeRequired: true, ...(own.proof === 'access-token' && { deviceToken }) })
}

/** The device tokens from before are void; the caller's device stays known. */
async function newDeviceToken(dependencies: Dependencies, request: Request): Promise<string> {
  const { devices, deviceCookie } = dependencies
  const user = await findEnabledUser(dependencies, request.caller)
  return devices.afterSignIn(presentedDevices(request, deviceCookie), user)
}

/** The caller's own sign-in, and who sends the request. */
function ownOf(dependencies: Dependencies, request: Request) {
  const source = sourceOf(dependencies, request)
  const { caller } = request
  const excepted = ownSignIn(caller)
  const { userId, proof } = caller
  const { userAgent, address } = source
  const signInId = excepted.exceptSignInId
  const own: OwnSignIn = { userId, signInId, proof, userAgent, address, signedInAt: madeAt(signInId) }
  return { own, source, excepted }
}

type Event = { event: EventName; source: RequestSource; own: OwnSignIn; signInId: string }

function auditOf({ users }: Dependencies, { event, source, own, signInId }: Event): AuditEntry[] {
  return [auditEntry(source, { event, at: users.now(), userId: own.userId, signInId })]
}

function removeCookie({ cookie }: Dependencies, reply: FastifyReply, isEnded: boolean): void {
  if (isEnded) setCookie(reply, cookie, '')
}

function idOf({ params }: Request): string {
  return (params as { id: string }).id.toLowerCase()
}
