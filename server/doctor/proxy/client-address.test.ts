// What doctor finds about a proxy that sends the client address, that does not, and that passes a forged address on.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Spoil, startProxy } from '../../../tests/support/network/proxy.ts'
import { startTestService } from '../../../tests/support/service.ts'
import { examineClientAddress } from './client-address.ts'
import { ProbeClient } from './probe-client.ts'

const trusting = await startTestService({ env: { CARILLON_TRUSTED_PROXIES: '127.0.0.1' } })
const trustsNone = await startTestService()
after(() => Promise.all([trusting.stop(), trustsNone.stop()]))

const client = '203.0.113.5'
type OnTheWay = NonNullable<Spoil['onTheWay']>
/** As nginx does with $remote_addr, with $proxy_add_x_forwarded_for, and only if no header came. */
const replaces: OnTheWay = ({ headers }) => Object.assign(headers, { 'x-forwarded-for': client })
const appends =
  (address: string): OnTheWay =>
  ({ headers }) => {
    headers['x-forwarded-for'] = [headers['x-forwarded-for'], address].filter(Boolean).join(', ')
  }
const setsIfMissing: OnTheWay = ({ headers }) => {
  headers['x-forwarded-for'] ??= client
}
const removesForwarded =
  (then: OnTheWay): OnTheWay =>
  (passing) => {
    passing.headers.forwarded = undefined
    return then(passing)
  }

async function found(service: { url: string }, onTheWay: OnTheWay) {
  const proxy = await startProxy(service.url, { onTheWay })
  const publicUrl = proxy.url
  try {
    const probe = new ProbeClient({ url: proxy.url, now: Date.now })
    const [finding, ...more] = await examineClientAddress({ client: probe, direct: service.url, publicUrl })
    assert.deepEqual(more, [])
    return finding
  } finally {
    await proxy.stop()
  }
}

test('finds nothing wrong with a proxy that sends the client address and passes no forged one on (A11)', async () => {
  for (const way of [replaces, appends(client), appends('127.0.0.1')]) {
    const finding = await found(trusting, removesForwarded(way))
    assert.equal(finding?.state, 'ok', JSON.stringify(finding))
    assert.match(finding?.found ?? '', /is ignored/)
  }
})

test('says that the proxy is not in CARILLON_TRUSTED_PROXIES', async () => {
  const finding = await found(trustsNone, replaces)
  assert.equal(finding?.state, 'warning')
  assert.match(finding?.change ?? '', /^CARILLON_TRUSTED_PROXIES=127\.0\.0\.1 /)
})

test('says that the proxy does not send the client address', async () => {
  const drops = removesForwarded(({ headers }) => Object.assign(headers, { 'x-forwarded-for': undefined }))
  for (const service of [trusting, trustsNone]) {
    const finding = await found(service, drops)
    assert.equal(finding?.state, 'warning')
    assert.match(
      finding?.change ?? '',
      /proxy_set_header X-Forwarded-For \$remote_addr; {2}and CARILLON_TRUSTED_PROXIES=/,
    )
  }
})

test('finds that an address which a client forges is trusted (A11)', async () => {
  for (const way of [setsIfMissing, () => {}]) {
    const finding = await found(trusting, way)
    assert.deepEqual(
      [finding?.state, finding?.change],
      ['fault', 'nginx: proxy_set_header X-Forwarded-For $remote_addr;'],
    )
  }
  const onlyForwarded = await found(trusting, ({ headers }) =>
    Object.assign(headers, { 'x-forwarded-for': undefined, forwarded: headers.forwarded ?? `for=${client}` }),
  )
  assert.deepEqual([onlyForwarded?.state, onlyForwarded?.change], ['fault', 'nginx: proxy_set_header Forwarded "";'])
})

test('finds that the proxy passes the other header on', async () => {
  const finding = await found(trusting, replaces)
  assert.deepEqual([finding?.state, finding?.change], ['warning', 'nginx: proxy_set_header Forwarded "";'])
})

test('finds two headers that disagree, and one that cannot be read', async () => {
  for (const headers of [
    { 'x-forwarded-for': client, forwarded: 'for=198.51.100.1' },
    { 'x-forwarded-for': 'rubbish' },
  ]) {
    const finding = await found(trusting, (passing) => Object.assign(passing.headers, headers))
    assert.equal(finding?.state, 'warning')
    assert.match(finding?.found ?? '', /cannot be read, or X-Forwarded-For and Forwarded disagree/)
  }
})

test('finds nothing wrong without a proxy, whichever proxies are trusted', async () => {
  for (const service of [trusting, trustsNone]) {
    for (const origin of [service.url, service.url.replace('127.0.0.1', 'localhost')]) {
      const probe = new ProbeClient({ url: origin, now: Date.now })
      const [finding] = await examineClientAddress({ client: probe, direct: service.url, publicUrl: undefined })
      assert.deepEqual([finding?.state, finding?.found], ['ok', 'it is the address of the connection'])
    }
  }
})

test('/livez sends no address, and sends its source only to doctor', async () => {
  assert.deepEqual((await trusting.get('/livez')).json().data, { status: 'alive' })
  for (const service of [trusting, trustsNone]) {
    const response = await service.get('/livez', {
      'carillon-doctor': '127.0.0.1',
      'x-forwarded-for': '10.0.0.1, 127.0.0.1',
    })
    assert.doesNotMatch(response.text, /127|10\.0/)
    // Whoever guesses the address of the proxy does not learn that it is the one.
    const guess = await service.get('/livez', { 'carillon-doctor': '127.0.0.1' })
    assert.equal(guess.json().data.clientAddress.isMadeUp, false)
  }
})
