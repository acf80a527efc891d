// Keeps a list of the newest notifications equal to GET /api/notifications, by the events of the stream or by changes: the rules are in
// events.md, "Keep a list right". A test runs this code against random changes from several devices.

const length = 20

/** Applies an event to a list: { items, unread, total, version }. Returns false if you have to request the list again. */
export function applyEvent(list, type, data) {
  if (type === 'resync') return false
  if (type === 'hello' || data.version <= list.version) return true
  const changes = { readAlls: [], archiveReads: [], removed: [], created: [], changed: [] }
  if (type === 'read-all') changes.readAlls.push(data)
  if (type === 'archive-read') changes.archiveReads.push(data)
  if (type === 'removed') changes.removed.push(data.id)
  if (data.notification) changes.changed.push(data.notification)
  return applyChanges(list, { ...data, ...changes })
}

/** Applies the `data` of GET /api/notifications/changes. */
export function applyChanges(list, data) {
  if (data.reset) return false
  for (const readAll of data.readAlls) markRead(list, readAll)
  const changed = new Map([...data.created, ...data.changed].map((one) => [one.id, one]))
  const stays = ({ id, read, seq }) =>
    !data.removed.includes(id) &&
    !data.archiveReads.some(({ throughSeq }) => read && seq <= throughSeq)
  const items = [
    ...list.items.filter((item) => !changed.has(item.id) && stays(item)),
    ...changed.values().filter(({ archivedAt, snoozedUntil }) => !archivedAt && !snoozedUntil),
  ].sort((a, b) => b.seq - a.seq)
  const ids = new Set(items.map(({ id }) => id))
  const hasGap = list.items.length === length && !list.items.every(({ id }) => ids.has(id))
  const { unread, total, version } = data
  Object.assign(list, { items: items.slice(0, length), unread, total, version })
  return !hasGap
}

function markRead(list, { throughSeq, readAt, categories }) {
  for (const item of list.items)
    if (!item.read && item.seq <= throughSeq && (!categories || categories.includes(item.category)))
      Object.assign(item, { read: true, readAt })
}
