// The peer Parse Server, with its REST API. Its program is programs/parse.js.
import { join } from 'node:path'
import { requestText } from '../load/requests.ts'
import { usernames } from './own-table.ts'
import { content, key, type Peer, type PeerOn, type PeerWork, password, placeProgram, send, startPeer } from './peer.ts'

export const parse: Peer = {
  name: 'Parse Server',
  folder: 'parse',
  packages: { express: '5.3.0', 'parse-server': '9.10.0' },
  start,
  prepare,
}

const application = 'X-Parse-Application-Id: bench'
const master = `${application}\r\nX-Parse-Master-Key: ${key}`

function start({ folder, database }: PeerOn) {
  const env = { DATABASE_URL: database.url, KEY: key, PARSE_SERVER_LOGS_FOLDER: join(folder, 'logs') }
  return startPeer({ args: [placeProgram('parse.js', folder)], env, ready: '/parse/health' })
}

async function prepare(on: PeerOn): Promise<PeerWork> {
  const { port, stop } = await start(on)
  const users: { objectId: string; sessionToken: string }[] = []
  for (const username of usernames(on.users)) {
    const body = { username, password }
    const { body: text } = await send(port, { method: 'POST', path: '/parse/users', body, proof: application })
    users.push(JSON.parse(text))
  }
  await stop()
  await fill(on)
  return {
    lists: users.map(({ objectId, sessionToken }) => listOf(objectId, sessionToken)),
    deliveries: users.map(({ objectId }) => deliveryTo(objectId)),
  }
}

/** `count=1` counts all that match; it has no second count of the unread ones. */
function listOf(objectId: string, sessionToken: string): string {
  const where = encodeURIComponent(JSON.stringify({ owner: pointerTo(objectId) }))
  const proof = `${application}\r\nX-Parse-Session-Token: ${sessionToken}`
  const query = `limit=20&order=-createdAt&count=1&where=${where}`
  return requestText('GET', `/parse/classes/Notification?${query}`, { proof })
}

function deliveryTo(objectId: string): string {
  const readable = { [objectId]: { read: true } }
  const body = JSON.stringify({ ...content, owner: pointerTo(objectId), ACL: readable })
  return requestText('POST', '/parse/classes/Notification', { proof: master, body })
}

function pointerTo(objectId: string) {
  return { __type: 'Pointer', className: '_User', objectId }
}

/** With an index for the list, which Parse does not make by itself. */
async function fill({ database, inboxSize }: PeerOn): Promise<void> {
  await database.query(`
    insert into "Notification" ("objectId", "createdAt", "updatedAt", title, body, url, category, data, owner, _rperm, _wperm)
    select substr(md5(u."objectId" || n), 1, 10), now() - (${inboxSize} - n) * interval '1 second', now(),
      'Your order ' || (100000 + n) || ' is on its way', '${content.body}', '/orders/' || (100000 + n), '${content.category}',
      jsonb_build_object('order', 100000 + n, 'parcels', 1), u."objectId", array[u."objectId"], array[]::text[]
    from generate_series(1, ${inboxSize}) n, "_User" u order by n`)
  await database.query('create index notification_of_owner on "Notification" (owner, "createdAt" desc)')
  await database.query('vacuum analyze')
}
