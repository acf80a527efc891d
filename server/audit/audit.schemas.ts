// The shapes of a user's activity: entries of the audit log, as their user may see them.
import * as t from '../http/openapi/schema.ts'

export const actors = ['user', 'application', 'operator', 'provider', 'service'] as const
const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const deviceNote = 'From `userAgent`, such as `Firefox on Linux`; null if that says nothing'
const Activity = t.component('Activity', {
  id: t.id,
  at: t.time,
  event: t.example(t.string('Such as sign-in, sign-in-refused, password-changed'), 'sign-in'),
  actor: t.oneOf(actors, 'Who did it; user is a client, with or without a proof'),
  address: t.example(t.nullable(t.string('Of the client, if the actor is user')), '192.0.2.7'),
  userAgent: t.example(t.nullable(t.string()), userAgent),
  device: t.example(t.nullable(t.string(deviceNote)), 'Firefox on Linux'),
  signInId: t.example(t.nullable(t.string()), t.exampleOf(t.id)),
  count: t.integer({ minimum: 1, description: 'More than 1 for refusals that were counted together' }),
  detail: t.component('ActivityDetail', {
    variant: t.optional(t.example(t.string(), 'stateful')),
    method: t.optional(t.example(t.string(), 'password')),
    code: t.optional(t.string()),
    fields: t.optional(t.string()),
  }),
})
export const ActivityQuery = t.object(t.cursor)
export const ActivityPageResponse = t.dataOf(t.pageOf('ActivityPage', Activity))
