// What the signed-in user changes about themselves: the display name and the language. Address and password have routes of their own.
import type { FastifyReply } from 'fastify'
import { notAuthenticated } from '../../../errors.ts'
import { auditEntry } from '../../../sign-in/audit/entry.ts'
import type { Subject } from '../../../sign-in/subject.ts'
import { refuseFaults } from '../../../sign-in/users/entry.ts'
import { readProfile } from '../../../sign-in/users/profile.ts'
import type { Dependencies } from '../../dependencies.ts'
import { OwnProfile } from '../../openapi/request-schemas.ts'
import { sourceOf } from '../../request/source.ts'
import { sendData } from '../../response/send.ts'
import type { GuardedRequest, Operation } from '../operation.ts'
import { displaySession, findEnabledUser } from '../sign-in/sign-in.ts'

/** A display name of the longest text, each character sent as an escape. */
const bodyLimit = 16 * 1024

export const change: Operation<Subject> = {
  id: 'updateMe',
  tag: 'sign-in',
  summary: 'Change the display name or the language of the signed-in user',
  body: OwnProfile,
  bodyLimit,
  responses: { 200: 'MeResponse' },
  refusals: ['TOO_MANY_REQUESTS'],
  handle: changeMe,
}

async function changeMe(dependencies: Dependencies, request: GuardedRequest<Subject>, reply: FastifyReply) {
  const { caller } = request
  const { users } = dependencies
  const source = sourceOf(dependencies, request)
  const { profile, faults } = readProfile(request.body as OwnProfile)
  refuseFaults(faults)
  const user = await findEnabledUser(dependencies, caller)
  const changed = Object.entries(profile).filter(([field, value]) => value !== user[field as keyof OwnProfile])
  if (changed.length === 0) return sendData(reply, displaySession(user, caller))
  const [{ id: userId }, { signInId }] = [user, caller]
  const detail = { fields: changed.map(([field]) => field).join(' ') }
  const audit = [auditEntry(source, { event: 'user-changed', at: users.now(), userId, signInId, detail })]
  const outcome = await users.store.updateUser({ userId, ...Object.fromEntries(changed), audit })
  if (outcome === 'absent') throw notAuthenticated()
  return sendData(reply, displaySession(await findEnabledUser(dependencies, caller), caller))
}
