// The peer Directus, with its REST API: a collection of notifications. The request limits the list to the user's own, since without a
// license a policy cannot.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { requestText } from '../load/requests.ts'
import { producer, usernames } from './own-table.ts'
import { content, key, type Peer, type PeerOn, type PeerWork, password, send, startPeer } from './peer.ts'

export const directus: Peer = {
  name: 'Directus',
  folder: 'directus',
  packages: { directus: '12.4.0', pg: '8.23.0' },
  // Directus names a version that this Node cannot build.
  overrides: { 'isolated-vm': '7.0.1' },
  start,
  prepare,
}

function environment({ folder, database }: PeerOn) {
  return {
    DB_CLIENT: 'pg',
    DB_CONNECTION_STRING: database.url,
    SECRET: key,
    ADMIN_EMAIL: 'admin@example.com',
    ADMIN_PASSWORD: password,
    ADMIN_TOKEN: key,
    HOST: '127.0.0.1',
    TELEMETRY: 'false',
    LOG_LEVEL: 'fatal',
    ACCESS_TOKEN_TTL: '1d',
    // It would refuse requests while it is measured.
    PRESSURE_LIMITER_ENABLED: 'false',
    EXTENSIONS_PATH: join(folder, 'extensions'),
    STORAGE_LOCAL_ROOT: join(folder, 'uploads'),
  }
}

function start(on: PeerOn) {
  return startPeer({ args: [programIn(on), 'start'], env: environment(on), ready: '/server/ping' })
}

function programIn({ folder }: PeerOn): string {
  return join(folder, 'node_modules/directus/cli.js')
}

async function prepare(on: PeerOn): Promise<PeerWork> {
  await bootstrap(on)
  const { port, stop } = await start(on)
  const create = async (path: string, body: object) => {
    const { body: text } = await send(port, { method: 'POST', path, body, proof: producer })
    return JSON.parse(text).data
  }
  await create('/collections', collection)
  const policy = (await create('/policies', { name: 'reader' })).id
  await create('/permissions', { policy, collection: 'inbox', action: 'read', fields: ['*'] })
  const role = (await create('/roles', { name: 'reader', policies: { create: [{ policy: { id: policy } }] } })).id
  const work: PeerWork = { lists: [], deliveries: [], created: 200 }
  for (const email of usernames(on.users)) {
    const { id } = await create('/users', { email, password, role })
    const { body } = await send(port, { method: 'POST', path: '/auth/login', body: { email, password } })
    const proof = `Authorization: Bearer ${JSON.parse(body).data.access_token}`
    work.lists.push(requestText('GET', `/items/inbox?${listed}`, { proof }))
    const delivery = JSON.stringify({ ...content, owner: id, read: false })
    work.deliveries.push(requestText('POST', '/items/inbox', { proof: producer, body: delivery }))
  }
  await stop()
  await fill(on)
  return work
}

async function bootstrap(on: PeerOn): Promise<void> {
  const env = { ...process.env, ...environment(on) }
  const child = spawn(process.execPath, [programIn(on), 'bootstrap'], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let complaint = ''
  child.stderr.on('data', (text: Buffer) => {
    complaint = (complaint + text).slice(-2_000)
  })
  const [status] = await once(child, 'exit')
  if (status !== 0) throw new Error(`directus bootstrap ended with status ${status}\n${complaint}`)
}

const listed = 'limit=20&sort=-id&meta=filter_count&filter[owner][_eq]=$CURRENT_USER'
const field = (name: string, type: string) => ({ field: name, type, schema: {}, meta: {} })
const collection = {
  collection: 'inbox',
  schema: {},
  meta: {},
  fields: [
    { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true }, meta: {} },
    field('owner', 'uuid'),
    field('title', 'string'),
    field('body', 'text'),
    field('url', 'string'),
    field('category', 'string'),
    field('data', 'json'),
    field('read', 'boolean'),
    { field: 'created_at', type: 'timestamp', schema: {}, meta: { special: ['date-created'] } },
  ],
}

/** With an index for the list, which Directus does not make by itself. */
async function fill({ database, inboxSize }: PeerOn): Promise<void> {
  await database.query(`
    insert into inbox (owner, title, body, url, category, data, read, created_at)
    select u.id, 'Your order ' || (100000 + n) || ' is on its way', '${content.body}', '/orders/' || (100000 + n),
      '${content.category}', json_build_object('order', 100000 + n, 'parcels', 1), n < 900, now()
    from generate_series(1, ${inboxSize}) n, directus_users u where u.email like 'reader-%' order by n`)
  await database.query('create index inbox_of_owner on inbox (owner, id desc)')
  await database.query('vacuum analyze')
}
