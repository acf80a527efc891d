// Keeps the newest notifications right by the events of the stream: the rules of docs/guide.md, "Keep a list right".
const length = 20

/** The list after an event, as a new object; undefined if it has to be requested again. */
export function keep(list, event) {
  const { type, version, unread, total } = event
  if (type === 'resync') return undefined
  if (type === 'hello' || version <= list.version) return list
  const items = itemsAfter(list.items, event)
  const isComplete = type !== 'removed' || items.length === Math.min(length, total)
  return isComplete ? { items, version, unread, total } : undefined
}

function itemsAfter(items, event) {
  const without = (id) => items.filter((item) => item.id !== id)
  switch (event.type) {
    case 'created':
    case 'replaced':
    case 'read': {
      const { notification } = event
      return [notification, ...without(notification.id)].sort((a, b) => b.seq - a.seq).slice(0, length)
    }
    case 'read-all': {
      const { throughSeq, readAt } = event
      return items.map((item) => (item.read || item.seq > throughSeq ? item : { ...item, read: true, readAt }))
    }
    case 'removed':
      return without(event.id)
    default:
      return items
  }
}
