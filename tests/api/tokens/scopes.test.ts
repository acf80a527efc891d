// A refusal says which proof is needed. GET /api/session responds to anyone.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newId } from '../../../server/basics/ids.ts'
import { disableUser } from '../../../server/users/access/user-changes.store.ts'
import { openForge } from '../../support/http/forge.ts'
import { type HttpResponse, type Proof, startTestService, variants } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const forge = await openForge(app)
const ann = await app.user('ann')

async function inboxToken(user = ann): Promise<Proof> {
  const token = await forge.token(forge.header, forge.inboxClaims(user))
  return { authorization: `Bearer ${token}` }
}

type Documented = Record<string, Record<string, { security: Record<string, unknown>[] }>>
const paths = (await app.get('/openapi.json')).json().paths as Documented
const [id = ''] = await app.deliver({ to: ann, title: 'Hi' })
const routesOfUsers = Object.entries(paths).flatMap(([template, methods]) =>
  Object.entries(methods)
    .filter(([, { security }]) => security.some((one) => 'token' in one))
    .map(([method]) => ({
      method: method.toUpperCase(),
      template,
      path: template.replace(/\{\w+\}/, id),
    })),
)
const isOfInbox = (template: string) =>
  template.startsWith('/api/notifications') ||
  template === '/api/me/preferences' ||
  template.startsWith('/api/me/push-subscriptions')
/** The page of the documentation is for everyone. */
const isOfScope = (template: string) =>
  isOfInbox(template) || ['/api/session', '/api/me', '/docs'].includes(template)

function assertRefused(response: HttpResponse, scope?: string): void {
  const needed = scope === undefined ? '' : `, scope="${scope}"`
  assert.equal(
    response.headers.get('www-authenticate'),
    `Bearer error="insufficient_scope"${needed}`,
  )
  assert.deepEqual([response.status, response.json().error.code], [403, 'FORBIDDEN'])
  assert.match(response.json().error.message, /scope "/)
}

test('a token of scope inbox opens the inbox, its preferences, /api/session and /api/me, and no other route of a user (T14)', async () => {
  const token = await inboxToken()
  let refused = 0
  for (const { method, template, path } of routesOfUsers) {
    // A stream does not end, and its HEAD has the same guard.
    const sent = path.endsWith('/stream') ? 'HEAD' : method
    const response = await app.request(path, { method: sent, headers: token })
    if (method === 'GET' ? isOfScope(template) : isOfInbox(template))
      // After DELETE the notification is 404, and there may be nothing to undo.
      assert.ok(
        [200, 204, 400, 404, 409].includes(response.status),
        `${method} ${path}: ${response.status}`,
      )
    else {
      assertRefused(response)
      refused++
    }
  }
  assert.ok(refused >= 2, '/routeRestreinte and /token/renew at least')
})

for (const variant of variants)
  test(`GET /api/session has the user, the proof and when it ends (${variant})`, async () => {
    const proof = await app.signIn(ann, variant)
    const { data } = (await app.get('/api/session', proof)).json()
    assert.deepEqual(data, (await app.get('/api/me', proof)).json().data)
    assert.deepEqual(
      [data.user.id, data.proof],
      [ann.id, variant === 'stateful' ? 'session' : 'access-token'],
    )
  })

test('GET /api/session is null, without an error or a challenge, for every request without a valid proof', async () => {
  const gone = await app.user()
  const session = await app.signIn(gone, 'stateful')
  const token = await app.signIn(gone, 'stateless')
  const ofGone = await inboxToken(gone)
  await app.store.write(disableUser, { userId: gone.id, at: app.now() })
  const { key } = await app.producerKey()
  const { authorization: expired = '' } = await inboxToken()
  app.pass(900_000)
  const proofs: Record<string, Proof> = {
    none: {},
    'a session that ended': session,
    'a token of a disabled user': token,
    'an issued token of a disabled user': ofGone,
    'an expired token': { authorization: expired },
    'an unknown session': {
      cookie: `carillon=${newId(app.now())}.${'A'.repeat(22)}.${'A'.repeat(43)}`,
    },
    'a cookie of another form': { cookie: 'carillon=x' },
    'a producer key': { authorization: `Bearer ${key}` },
    'another scheme': { authorization: 'Basic YTpi' },
    'a forged token beside a valid session': {
      ...(await app.signIn(ann, 'stateful')),
      authorization: 'Bearer x',
    },
  }
  for (const [name, proof] of Object.entries(proofs)) {
    const response = await app.get('/api/session', proof)
    assert.deepEqual([response.status, response.json()], [200, { success: true, data: null }], name)
    assert.equal(response.headers.get('www-authenticate'), null, name)
  }
})
