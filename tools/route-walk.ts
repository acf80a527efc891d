// Calls every route on a given PostgreSQL database. For a Citus cluster or a PgBouncer, which the tests cannot start. It starts
// `serve` on the database, which must have no user yet, and leaves a user with notifications, so it requires the word "fill".
//
//   node tools/route-walk.ts postgres://carillon@127.0.0.1:23500/carillon fill

import { EventReader } from '../tests/support/event-source/event-source.ts'
import { hasFirstSignIn } from '../tests/support/processes/carillon-process.ts'
import { type Node, Nodes } from '../tests/support/processes/nodes.ts'
import { idIn, type SignIn, type UserOfService } from '../tests/support/processes/user-of-service.ts'
import type { HttpResponse, Proof } from '../tests/support/service.ts'

const [url = '', word] = process.argv.slice(2)
if (!/^postgres(ql)?:/.test(url) || word !== 'fill') {
  process.stderr.write('usage: node tools/route-walk.ts postgres://... fill\n')
  process.exit(2)
}

let steps = 0
const failures: string[] = []

/** One step: a request and its expected status. */
async function step(what: string, sent: Promise<HttpResponse>, status = 200): Promise<HttpResponse> {
  const response = await sent
  steps++
  if (response.status !== status) failures.push(`${what}: ${response.status}, not ${status}: ${response.text}`)
  return response
}

function check(what: string, holds: boolean): void {
  steps++
  if (!holds) failures.push(what)
}

async function walkOpenRoutes(user: UserOfService): Promise<void> {
  for (const path of ['/livez', '/readyz', '/openapi.json', '/docs', '/docs/style.css', '/.well-known/jwks.json'])
    await step(path, user.request({ path }))
  for (const path of ['/routeRestreinte', '/api/me', '/api/notifications'])
    await step(`${path} without a proof`, user.request({ path }), 401)
  await step('sign-in with a wrong password', user.post('/login', { username: 'operator', password: 'wrong' }), 401)
}

/** Calls every route of a user with one kind of proof. */
async function walkReaderRoutes(
  user: UserOfService,
  { url: origin, proof, name }: { url: string; proof: Proof; name: string },
): Promise<void> {
  const get = (path: string, status?: number) =>
    step(`${name}: ${path}`, user.request({ path, headers: proof }), status)
  await get('/routeRestreinte')
  await get('/api/me')
  using stream = await EventReader.open(origin, { headers: proof })
  await stream.next('hello')
  const position = (await get('/api/notifications/changes?since=0')).json().data.position
  const held = get(`/api/notifications/changes?since=${position}&wait=20`)
  const id = idIn(await step(`${name}: a delivery`, user.deliver(`for ${name}`), 201))
  check(`${name}: the held poll receives it`, JSON.stringify((await held).json()).includes(id))
  check(`${name}: the stream sends it`, (await stream.next('created')).data.notification.id === id)
  const list = await get('/api/notifications?page=1&limit=5')
  check(`${name}: the newest comes first`, list.json().data.items[0].id === id)
  await get('/api/notifications?status=unread&limit=5')
  await get('/api/notifications/counts')
  await get(`/api/notifications/${id}`)
  await get('/api/notifications/01900000-0000-7000-8000-000000000000', 404)
  const read = user.request({ method: 'PATCH', path: `/api/notifications/${id}/read`, headers: proof })
  await step(`${name}: read`, read, 204)
  check(`${name}: it is read`, (await get(`/api/notifications/${id}`)).json().data.read === true)
  await step(`${name}: read-all`, user.post('/api/notifications/read-all', {}, proof), 204)
  check(`${name}: none is unread`, (await get('/api/notifications/counts')).json().data.unread === 0)
}

async function walkProducerRoute(user: UserOfService, { username, key }: SignIn) {
  const send = (body: object, more = {}) =>
    user.post(
      '/api/notifications',
      { recipients: [{ username }, { username: 'nobody' }], title: 'Walk', ...body },
      { authorization: `Bearer ${key}`, ...more },
    )
  const first = await step('a delivery with an Idempotency-Key', send({}, { 'idempotency-key': 'walk' }), 201)
  const again = await step('the same again', send({}, { 'idempotency-key': 'walk' }), 201)
  check('the second response repeats the first', idIn(again) === idIn(first))
  await step('another body', send({ title: 'Other' }, { 'idempotency-key': 'walk' }), 422)
  const keyed = await step('a delivery with a key', send({ key: 'build', category: 'builds' }), 201)
  const updated = await step('an update by key', send({ key: 'build', category: 'done' }), 201)
  check('the update keeps the id', idIn(updated) === idIn(keyed))
}

async function walk(at: Node, signIn: SignIn): Promise<void> {
  const user = at.user(signIn)
  await walkOpenRoutes(user)
  for (const variant of ['stateful', 'stateless'] as const) {
    const proof = await user.signIn(variant)
    check(`a ${variant} sign-in`, Object.values(proof).join('') !== '')
    await walkReaderRoutes(user, { url: at.url, proof, name: variant })
    if (variant === 'stateless') await step('renew', user.post('/token/renew', {}, proof))
    await step(`${variant}: sign-out`, user.request({ method: 'POST', path: '/logout', headers: proof }), 204)
    await step(`${variant}: the proof is refused`, user.request({ path: '/api/me', headers: proof }), 401)
  }
  await walkProducerRoute(user, signIn)
}

await using nodes = new Nodes(url, { CARILLON_DATABASE_PARTITIONS: '1' })
const node = await nodes.add()
if (!hasFirstSignIn(nodes.folder)) throw new Error('The database has a user already. Use one without users.')
await walk(node, nodes.firstSignIn)
check('the process ends with status 0', (await node.process.end('SIGTERM')).status === 0)

process.stdout.write([...failures, `${steps - failures.length} of ${steps} steps passed`, ''].join('\n'))
process.exitCode = failures.length === 0 ? 0 : 1
