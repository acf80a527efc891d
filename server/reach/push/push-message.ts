// A push is declarative web push (https://www.w3.org/TR/push-api/#declarative-push-message), which
// our worker reads, too. A push about one notification replaces an earlier one about it. A push
// about several replaces the earlier one about several.
import { hashOf } from '../../basics/secrets.ts'
import type { PageLanguage, TextsOf } from '../../pages/texts/texts.ts'
import type { User } from '../../users/users.store.ts'
import { type Item, titleFor } from '../items.store.ts'
import type { PushContent } from './push.store.ts'
import { maxPayload, type Push } from './push-service.ts'

/** The worker closes what it shows that is not among these. */
export const maxIds = 40
const maxTitles = 3
const common = 'carillon'

/** `url`: the subscription's. `due`: the cause of this push, a part of `content`. */
type Message = {
  user: User
  language: PageLanguage
  texts: TextsOf<'service'>['push']
  url: string
  due: readonly Item[]
  content: PushContent
  hasContent: boolean
}

export function pushOf(message: Message): Push {
  const { due, hasContent } = message
  const [only] = hasContent && due.length === 1 ? due : []
  const tag = only?.id ?? common
  // Each is shorter than the one before, and the last always fits: ids and addresses are bounded.
  const forms = [
    ...(only ? [aboutOne(message, only)] : []),
    ...(hasContent ? [withTitles(message)] : []),
    aboutAll(message),
  ]
  const payload = forms.find((form) => Buffer.byteLength(form) <= maxPayload) ?? ''
  // At most 32 characters (RFC 8030, section 5.4). With a hash, the push service learns no id.
  return { payload, urgency: urgencyOf(due), topic: hashOf(tag).slice(0, 32) }
}

function urgencyOf(due: readonly Item[]): Push['urgency'] {
  const priorities = due.map(({ priority }) => priority ?? 'normal')
  return (['high', 'normal'] as const).find((one) => priorities.includes(one)) ?? 'low'
}

function aboutOne(message: Message, item: Item): string {
  const { user, url } = message
  const link = URL.parse(item.url === null ? '' : JSON.parse(item.url), url)
  const navigate = link !== null && /^https?:$/.test(link.protocol) ? link.href : url
  return payloadOf(message, { title: titleFor(user, item), navigate, tag: item.id, ids: [item.id] })
}

function withTitles(message: Message): string {
  const { user, content } = message
  const titles = content.unseen.slice(0, maxTitles).map((item) => titleFor(user, item))
  return payloadOf(message, { ...counted(message), body: titles.join('\n') })
}

function aboutAll(message: Message): string {
  return payloadOf(message, counted(message))
}

function counted({ texts, url, content: { unseen } }: Message) {
  const ids = unseen.slice(0, maxIds).map(({ id }) => id)
  return { title: texts.arrived(unseen.length), navigate: url, tag: common, ids }
}

type Shown = { title: string; body?: string; navigate: string; tag: string; ids: readonly string[] }

function payloadOf(
  { language, content: { count, unread } }: Message,
  { ids, ...shown }: Shown,
): string {
  // Safari reads the number as text in the notification, the standard beside it.
  const notification = { ...shown, lang: language, app_badge: String(count), data: { ids } }
  return JSON.stringify({ web_push: 8030, notification, app_badge: count, unread })
}
