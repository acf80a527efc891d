import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Sealing } from '../../../server/basics/secrets.ts'
import { openStore } from '../../../server/open-store.ts'
import { replaceOperation } from '../../../server/store/testing/operations.ts'
import { makeSigningKey, openPrivate, signToken } from '../../../server/tokens/key-material.ts'
import { acceptedAfterMs, publishedAheadMs } from '../../../server/tokens/key-schedule.ts'
import {
  dropSigningKey,
  type SigningKey,
  signingKeys,
} from '../../../server/tokens/signing-keys.store.ts'
import { type Proof, startTestService } from '../../support/service.ts'

const app = await startTestService({ env: { CARILLON_SIGNING_KEY_LIFETIME: '30d' } })
after(() => app.stop())
const day = 86_400_000
const user = await app.user('ann')

const kidOf = ({ authorization = '' }: Proof): string =>
  JSON.parse(
    Buffer.from(authorization.slice('Bearer '.length).split('.')[0] ?? '', 'base64url').toString(),
  ).kid
const published = async (): Promise<string[]> =>
  (await app.get('/.well-known/jwks.json')).json().keys.map(({ kid }: { kid: string }) => kid)
const signedIn = () => app.signIn(user, 'stateless')
const statusOf = async (token: Proof) => (await app.get('/routeRestreinte', token)).status

async function until<Value>(
  read: () => Promise<Value>,
  isThere: (value: Value) => boolean,
): Promise<Value> {
  const from = performance.now()
  for (;;) {
    const value = await read()
    if (isThere(value)) return value
    assert.ok(performance.now() < from + 60_000, `still ${JSON.stringify(value)}`)
  }
}

test('after 30 days the next key is published, signs later, and no token of the one before is refused (T12)', async () => {
  const [first = ''] = await published()
  app.pass(30 * day - publishedAheadMs)
  const old = await signedIn()
  const keys = await until(published, ({ length }) => length === 2)
  const next = keys.find((kid) => kid !== first)
  assert.equal(kidOf(await signedIn()), first, 'it is published, and nobody signs with it yet')
  app.pass(publishedAheadMs - 1)
  assert.equal(kidOf(await signedIn()), first)
  app.pass(1)
  const late = await signedIn()
  assert.equal(kidOf(late), next)
  assert.equal(await statusOf(old), 200)
  assert.equal(await statusOf(late), 200)
  app.pass(acceptedAfterMs - 1)
  assert.deepEqual((await published()).length, 2)
  const forgery = await signedWith(first)
  assert.equal(await statusOf(await forgery()), 200)
  app.pass(1)
  assert.deepEqual(await published(), [next], 'the last token of the first key has expired')
  assert.equal(await statusOf(await forgery()), 401, 'a thief of the first key signs no token')
})

async function signedWith(kid: string): Promise<() => Promise<Proof>> {
  const found = (await app.store.read(signingKeys)).find((one) => one.kid === kid) ?? assert.fail()
  const key =
    (await openPrivate(found, new Sealing({ current: app.sealingSecret }))) ?? assert.fail()
  return async () => {
    const [, payload = ''] = (await signedIn()).authorization?.split('.') ?? []
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    return { authorization: `Bearer ${signToken(key, claims)}` }
  }
}

test('the key set may be cached for less time than a key is published ahead, and unchanged is 304', async () => {
  const response = await app.get('/.well-known/jwks.json')
  const maxAge = Number(
    /^public, max-age=(\d+)$/.exec(response.headers.get('cache-control') ?? '')?.[1],
  )
  assert.ok(maxAge >= 60 && maxAge * 1000 <= publishedAheadMs - 60_000, `${maxAge} s`)
  const etag = response.headers.get('etag') ?? ''
  assert.match(etag, /^"[\w-]+"$/)
  const again = await app.request('/.well-known/jwks.json', { headers: { 'if-none-match': etag } })
  assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', etag])
  const other = await app.request('/.well-known/jwks.json', {
    headers: { 'if-none-match': '"another"' },
  })
  assert.equal(other.status, 200)
})

// How soon is measured on several nodes (tests/e2e/nodes/key-rotation.soak.test.ts).
test('a dropped key is refused, in caches and streams too, and the next token has a new key (T12)', async () => {
  const token = await signedIn()
  assert.equal(await statusOf(token), 200)
  const stream = await fetch(`${app.url}/api/notifications/stream`, { headers: { ...token } })
  const reader = stream.body?.getReader()
  const ended = (async () => {
    let isOver: boolean | undefined = false
    while (!isOver) isOver = (await reader?.read())?.done
  })()
  const { store } = await openStore(app.databaseSetting)
  const sealing = new Sealing({ current: app.sealingSecret })
  const key = await makeSigningKey(sealing, { createdAt: app.now(), startsAt: app.now() })
  assert.equal(await store.write(dropSigningKey, { kid: kidOf(token), key }), 'done')
  await app.refused(token)
  await ended
  assert.equal(kidOf(await signedIn()), key.kid)
  assert.deepEqual((await published()).includes(kidOf(token)), false)
  await store.close()
})

test('a token of a key that this node has not read yet is accepted, and forged ones cause at most one read a second', async (t) => {
  let reads = 0
  const counting = (_: unknown, run: () => Promise<SigningKey[]>) => {
    reads++
    return run()
  }
  t.after(replaceOperation(app.store, signingKeys, counting))
  const [header = '', payload = ''] =
    (await signedIn()).authorization?.slice('Bearer '.length).split('.') ?? []
  const { kid, ...rest } = JSON.parse(Buffer.from(header, 'base64url').toString())
  const from = performance.now()
  for (let n = 0; n < 200; n++) {
    const forgedKid = `${String(n).padStart(4, '0')}${kid.slice(4)}`
    const forged = Buffer.from(JSON.stringify({ ...rest, kid: forgedKid })).toString('base64url')
    assert.equal(
      await statusOf({ authorization: `Bearer ${forged}.${payload}.${'A'.repeat(86)}` }),
      401,
    )
  }
  const seconds = (performance.now() - from) / 1000
  assert.ok(reads >= 1 && reads <= 1 + seconds + 1, `${reads} reads in ${seconds} s`)
})
