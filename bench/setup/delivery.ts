// The delivery that every benchmark of the store makes: one recipient, a category, a body of ordinary length.
import { newId } from '../../server/ids.ts'
import { contentJson } from '../../server/store/notification-json.ts'
import type { Delivery } from '../../server/store/store.ts'
import { iso } from '../../server/times.ts'

export function deliveryTo(username: string, turn: number): Delivery {
  const at = Date.now()
  const content = {
    title: `Number ${turn}`,
    body: 'It is on its way.',
    url: null,
    category: 'orders',
    data: null,
    key: null,
    createdAt: iso(at),
  }
  return {
    id: newId(at),
    producerId: 'bench',
    idempotency: null,
    content: contentJson(content),
    category: content.category,
    key: content.key,
    recipients: [{ to: { username }, notificationId: newId(at) }],
    at,
  }
}
