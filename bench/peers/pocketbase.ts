// Builds PocketBase (Go, SQLite), fills it with users and their notifications, and loads its list and a delivery with other.ts.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { connect } from '../../server/store/sqlite/database.ts'
import { request, requestText } from '../load/requests.ts'
import { freePort } from '../setup/service.ts'
import { usernames } from './own-table.ts'
import { content, password, send } from './peer.ts'

const module = 'github.com/pocketbase/pocketbase/examples/base@v0.36.8'
const [users, inboxSize] = [100, 1_000]
const admin = 'admin@example.com'
const folder = fileURLToPath(new URL('../../data/peers/pocketbase/', import.meta.url))
const program = join(folder, 'base')
const data = join(folder, 'data')

const help = `node bench/peers/pocketbase.ts [--seconds S] [--rounds N]

Builds ${module} into data/peers/pocketbase/ (needs Go), makes ${users} users with ${inboxSize} notifications
each, and measures lists of 20 and deliveries to one user.

  --seconds S    for each round; 2
  --rounds N     5
`

const field = (name: string, type: string) => ({ name, type })
const inbox = {
  name: 'inbox',
  type: 'base',
  listRule: 'owner = @request.auth.id',
  fields: [
    { name: 'owner', type: 'text', required: true },
    field('title', 'text'),
    field('body', 'text'),
    field('url', 'text'),
    field('category', 'text'),
    field('data', 'json'),
    { name: 'created', type: 'autodate', onCreate: true },
  ],
  indexes: ['create index inbox_of_owner on inbox (owner, created desc)'],
}

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
  },
})
if (values.help) process.stdout.write(help)
else await measure()
process.exit()

async function measure(): Promise<void> {
  rmSync(data, { recursive: true, force: true })
  mkdirSync(data, { recursive: true })
  process.stderr.write(`building ${module}, which takes some minutes the first time\n`)
  run('go', ['install', module], { GOBIN: folder })
  run(program, ['superuser', 'upsert', admin, password, '--dir', data])
  const port = await freePort()
  const startedAt = performance.now()
  const server = spawn(program, ['serve', '--http', `127.0.0.1:${port}`, '--dir', data], { stdio: 'ignore' })
  process.on('exit', () => server.kill('SIGKILL'))
  await untilReady(port)
  console.log(`start to first response, new database: ${(performance.now() - startedAt).toFixed(0)} ms`)
  process.stderr.write(`making ${users} users with ${inboxSize} notifications each\n`)
  const work = await fill(port)
  for (const [name, requests] of Object.entries(work)) loadWith(server, { name, port, requests })
}

function run(command: string, args: string[], env: Record<string, string> = {}): void {
  const { status, error, stderr } = spawnSync(command, args, { env: { ...process.env, ...env }, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args[0]} failed: ${error?.message ?? stderr}`)
}

async function untilReady(port: number): Promise<void> {
  const isReady = () =>
    request(port, requestText('GET', '/api/health')).then(
      ({ status }) => status === 200,
      () => false,
    )
  while (!(await isReady())) await pause(2)
}

type Requests = { method: string; path: string; headers: Record<string, string>; body?: object }[]

async function fill(port: number): Promise<Record<'lists' | 'deliveries', Requests>> {
  const post = async (path: string, body: object, token?: string) => {
    const proof = token === undefined ? {} : { proof: `Authorization: ${token}` }
    return JSON.parse((await send(port, { method: 'POST', path, body, ...proof })).body)
  }
  const signIn = async (collection: string, identity: string): Promise<string> =>
    (await post(`/api/collections/${collection}/auth-with-password`, { identity, password })).token
  const superuser = await signIn('_superusers', admin)
  await post('/api/collections', inbox, superuser)
  const lists: Requests = []
  const deliveries: Requests = []
  for (const email of usernames(users)) {
    const body = { email, password, passwordConfirm: password }
    const { id } = await post('/api/collections/users/records', body, superuser)
    const token = await signIn('users', email)
    // The rule of the collection limits the list to the user's own.
    const path = '/api/collections/inbox/records?perPage=20&sort=-created'
    lists.push({ method: 'GET', path, headers: { Authorization: token } })
    const delivery = { ...content, owner: id }
    deliveries.push({
      method: 'POST',
      path: '/api/collections/inbox/records',
      headers: { Authorization: superuser },
      body: delivery,
    })
  }
  fillInboxes()
  return { lists, deliveries }
}

/** In its file, since its API would take minutes. */
function fillInboxes(): void {
  const database = connect(join(data, 'data.db'))
  database.exec(`
    with recursive n(n) as (select 1 union all select n + 1 from n where n < ${inboxSize})
    insert into inbox (id, owner, title, body, url, category, data, created)
    select lower(hex(randomblob(7))) || 'a', u.id, 'Your order ' || (100000 + n) || ' is on its way', '${content.body}',
      '/orders/' || (100000 + n), '${content.category}', json_object('order', 100000 + n, 'parcels', 1),
      strftime('%Y-%m-%d %H:%M:%fZ', 'now', '-' || (${inboxSize} - n) || ' seconds')
    from n, users u order by n`)
  database.close()
}

type Work = { name: string; port: number; requests: Requests }

function loadWith({ pid }: ChildProcess, { name, port, requests }: Work): void {
  const file = join(folder, `${name}.json`)
  writeFileSync(file, JSON.stringify(requests))
  const other = fileURLToPath(new URL('./other.ts', import.meta.url))
  const given = ['--pid', String(pid), '--port', String(port), '--requests', file]
  const length = ['--seconds', values.seconds, '--rounds', values.rounds]
  console.log(name)
  const { status } = spawnSync(process.execPath, [other, ...given, ...length], { stdio: 'inherit' })
  if (status !== 0) throw new Error(`${name} could not be measured`)
}
