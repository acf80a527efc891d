import * as t from '../http/openapi/schema.ts'
import {
  content,
  GivenActor,
  inLanguages,
  look,
  priorities,
  title,
} from '../inbox/inbox.schemas.ts'
import { maxExternalIdLength } from '../users/profile.ts'
import { name } from '../users/users.schemas.ts'

const recipient = {
  username: name,
  userId: t.text(1, 64),
  externalId: t.text(1, maxExternalIdLength),
  issuer: t.text(1, 255, 'Of the externalId; without it, a plain id'),
}
const oneName = {
  minProperties: 1,
  maxProperties: 4,
  description: 'Exactly one of `username`, `userId` and `externalId`',
}
const Recipient = t.example(t.component('Recipient', t.allOptional(recipient), oneName), {
  username: 'ann',
})

const renotifyNote =
  'Needs a key. True: if it replaces a notification, that one becomes unread and the newest; its count rises by one'
const unknownNote =
  'Default: report. With refuse, one unknown recipient is a 422, nothing is delivered, and no user is created'
const { body, ...plain } = content
const { icon, ...others } = look
const given = {
  title: inLanguages(title),
  body: t.optional(t.nullable(inLanguages(body))),
  ...t.allOptional(plain),
  actor: t.optional(t.nullable(GivenActor)),
  icon: t.optional(t.example(t.nullable(icon), t.exampleOf(icon))),
  ...t.allOptional({
    ...others,
    expiresAt: t.string({ format: 'date-time', description: 'In the future' }),
    priority: t.oneOf(priorities, `Default: ${priorities[0]}`),
  }),
}
export const DeliveryBody = t.component('DeliveryRequest', {
  recipients: t.array(Recipient, { minItems: 1, maxItems: 1000 }),
  ...given,
  renotify: t.optional(t.orNull(t.boolean(renotifyNote))),
  unknownRecipients: t.optional(t.orNull(t.oneOf(['report', 'refuse'], unknownNote))),
})
export type DeliveryBody = t.TypeOf<typeof DeliveryBody>
const { key: _, ...changeable } = given
export const NotificationChange = t.component(
  'NotificationChange',
  { ...changeable, title: t.optional(given.title) },
  { minProperties: 1 },
)
export type NotificationChange = t.TypeOf<typeof NotificationChange>
export const KeyChangeResponse = t.dataOf(
  t.component('KeyChange', { inboxes: t.integer({ minimum: 1 }) }),
)
export type GivenContent = WithoutNulls<Pick<DeliveryBody, keyof typeof given>>
export type WithoutNulls<Members> = { [Name in keyof Members]: Exclude<Members[Name], null> }

const DeliveryResult = t.component('DeliveryResult', {
  userId: t.nullable(t.id),
  id: t.nullable(t.id),
  status: t.oneOf(['delivered', 'updated', 'muted', 'unknown_recipient']),
})
export const DeliveryResponse = t.dataOf(
  t.component('Delivery', { deliveryId: t.id, results: t.array(DeliveryResult) }),
)
