// When an event leaves, makes it of its row's ids, and signs it as Standard Webhooks 1.0.0 says.
import { createHmac } from 'node:crypto'
import { iso } from '../basics/clock.ts'
import type { EventContent } from '../inbox/webhook-events.store.ts'
import { type Item, itemsOf, titleFor, unreadOf } from '../reach/items.store.ts'
import type { Store } from '../store/store.ts'
import { findUser, type User } from '../users/users.store.ts'
import type { Row } from './looks.store.ts'

/** An item beyond this has only its id. */
const maxBytes = 19_000
/** An item has up to 32 KB in the store, with the texts of all languages. */
const itemsAtOnce = 20

/** Undefined if no reason is left. */
export async function eventOf(store: Store, { id, ownerId, ids: json, at }: Row) {
  const { type, ids = [], more = 0, reason, user: gone }: EventContent = JSON.parse(json)
  const event = { id, type, timestamp: iso(at) }
  if (gone !== undefined) return { ...event, data: { user: gone } }
  if (type === 'webhook.test') return { ...event, data: {} }
  const user = await store.read(findUser, ownerId)
  if (user === undefined || user.disabledAt !== null) return undefined
  const isUnread = type === 'notification.unread'
  const wanted = isUnread ? await store.read(unreadOf, { userId: ownerId, ids }) : ids
  if (wanted.length === 0) return undefined
  const { username, externalId } = user
  const data = {
    user: { id: user.id, username, externalId },
    items: await itemsInSize(store, { user, ids: wanted }),
    ...(isUnread && { more }),
    ...(reason && { reason }),
  }
  return { ...event, data }
}

async function itemsInSize(store: Store, { user, ids }: { user: User; ids: readonly string[] }) {
  const items: { id: string }[] = []
  let bytes = ids.length * 50
  let isFull = false
  while (items.length < ids.length && !isFull) {
    const some = ids.slice(items.length, items.length + itemsAtOnce)
    const found = await store.read(itemsOf, { userId: user.id, ids: some })
    for (const id of some) {
      const item = displayed(found.get(id), user) ?? { id }
      const size = Buffer.byteLength(JSON.stringify(item))
      const fits = bytes + size <= maxBytes
      items.push(fits ? item : { id })
      if (fits) bytes += size
      else isFull = true
    }
  }
  return [...items, ...ids.slice(items.length).map((id) => ({ id }))]
}

function displayed(item: Item | undefined, user: User) {
  if (item === undefined) return undefined
  const { title, url, look, priority, ...others } = item
  return {
    ...others,
    priority: priority ?? 'normal',
    title: titleFor(user, { title, look }),
    url: url === null ? null : (JSON.parse(url) as string),
  }
}

/** `secrets`: `whsec_` and base64. `at`: this attempt, in milliseconds. */
export function signedHeaders({
  id,
  body,
  at,
  secrets,
}: {
  id: string
  body: string
  at: number
  secrets: string[]
}) {
  const timestamp = `${Math.floor(at / 1_000)}`
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
