import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { suite, test } from 'node:test'
import { rangesOf } from '../../basics/ip-addresses.ts'
import { addressOf } from './address.ts'

const proxies = rangesOf(['127.0.0.1', '10.0.0.0/8', 'fd00::/8'])
const peerIs = (remoteAddress: string | undefined, headers: IncomingHttpHeaders = {}) =>
  ({ headers, socket: { remoteAddress } }) as Parameters<typeof addressOf>[0]

const real = '203.0.113.9'
const spoofed = '192.0.2.66'

const spoofs: [string, IncomingHttpHeaders][] = [
  ['X-Forwarded-For', { 'x-forwarded-for': spoofed }],
  ['X-Forwarded-For with a port', { 'x-forwarded-for': `${spoofed}:443` }],
  ['X-Forwarded-For, a long chain', { 'x-forwarded-for': Array(500).fill(spoofed).join(', ') }],
  ['X-Forwarded-For, IPv6', { 'x-forwarded-for': '2001:db8::66' }],
  ['X-Forwarded-For, IPv4 inside IPv6', { 'x-forwarded-for': `::ffff:${spoofed}` }],
  ['X-Forwarded-For that names a trusted proxy', { 'x-forwarded-for': `${spoofed}, 10.0.0.1` }],
  ['Forwarded', { forwarded: `for=${spoofed}` }],
  ['Forwarded, quoted with a port', { forwarded: `for="${spoofed}:443";proto=https` }],
  ['Forwarded, IPv6', { forwarded: 'for="[2001:db8::66]"' }],
  ['Forwarded, an open quote', { forwarded: `for=${spoofed};by="` }],
  ['both', { forwarded: `for=${spoofed}`, 'x-forwarded-for': spoofed }],
  ['X-Real-IP', { 'x-real-ip': spoofed }],
  ['X-Client-IP', { 'x-client-ip': spoofed }],
  [
    'True-Client-IP and CF-Connecting-IP',
    { 'true-client-ip': spoofed, 'cf-connecting-ip': spoofed },
  ],
  [
    'X-Forwarded',
    {
      'x-forwarded': `for=${spoofed}`,
      'x-cluster-client-ip': spoofed,
      'x-originating-ip': spoofed,
    },
  ],
]

suite('a forwarding header is not trusted (A11)', () => {
  for (const [name, headers] of spoofs) {
    test(`from a peer that is not a trusted proxy: ${name}`, () => {
      assert.equal(addressOf(peerIs(real, headers), proxies), real)
      assert.equal(addressOf(peerIs(`::ffff:${real}`, headers), proxies), real)
      assert.equal(addressOf(peerIs('127.0.0.1', headers), rangesOf([])), '127.0.0.1')
    })

    test(`in front of the entry that a trusted proxy adds: ${name}`, () => {
      const added = (name_: 'forwarded' | 'x-forwarded-for', entry: string) => ({
        ...headers,
        [name_]: [headers[name_], entry].filter((one) => one !== undefined).join(', '),
      })
      for (const arrived of [added('x-forwarded-for', real), added('forwarded', `for=${real}`)])
        assert.ok(
          [real, '127.0.0.1'].includes(addressOf(peerIs('127.0.0.1', arrived), proxies)),
          JSON.stringify(arrived),
        )
    })
  }
})

test('reads the address that a trusted proxy adds, in every form of the two headers', () => {
  const forms: [IncomingHttpHeaders, string][] = [
    [{ 'x-forwarded-for': real }, real],
    [{ 'x-forwarded-for': `${real}:4711` }, real],
    [{ 'x-forwarded-for': `\t${real} ` }, real],
    [{ 'x-forwarded-for': '2001:DB8::9' }, '2001:db8::9'],
    [{ 'x-forwarded-for': '[2001:db8::9]:4711' }, '2001:db8::9'],
    [{ 'x-forwarded-for': `::ffff:${real}` }, real],
    [{ 'x-forwarded-for': `${spoofed}, ${real}, 10.1.2.3, fd00::1` }, real],
    [{ 'x-forwarded-for': `${spoofed}, rubbish, , ${real}` }, real],
    [{ forwarded: `for=${real}` }, real],
    [{ forwarded: `For="${real}:4711"` }, real],
    [{ forwarded: 'for="[2001:db8::9]:4711"' }, '2001:db8::9'],
    [{ forwarded: `for="${real}:_hidden"` }, real],
    [
      { forwarded: `proto=https;for=${real};by=_proxy;host="bell.example, or \\"another\\""` },
      real,
    ],
    [{ forwarded: `for=${spoofed}, for=${real} , for=10.1.2.3` }, real],
    [{ forwarded: `for=unknown, for=_gazonk, for="2${real.slice(1)}"` }, real],
    [{ forwarded: `for=${real}`, 'x-forwarded-for': real }, real],
    // All proxies on the way are trusted: the first address is the client's.
    [{ 'x-forwarded-for': '10.9.9.9, 10.1.2.3' }, '10.9.9.9'],
  ]
  for (const [headers, expected] of forms)
    assert.equal(addressOf(peerIs('127.0.0.1', headers), proxies), expected)
})

test('stops at the last trusted proxy if the entry before it is not an address', () => {
  const unreadable: [IncomingHttpHeaders, string][] = [
    [{ 'x-forwarded-for': `${real}, unknown` }, '127.0.0.1'],
    [{ 'x-forwarded-for': `${real}, ` }, '127.0.0.1'],
    [{ 'x-forwarded-for': '' }, '127.0.0.1'],
    [{ 'x-forwarded-for': `${real}, rubbish, 10.1.2.3` }, '10.1.2.3'],
    [{ 'x-forwarded-for': `${real}:99:1` }, '127.0.0.1'],
    [{ 'x-forwarded-for': 'fe80::1%eth0' }, '127.0.0.1'],
    [{ 'x-forwarded-for': '[203.0.113.9]' }, '127.0.0.1'],
    [{ 'x-forwarded-for': '203.0.113.09' }, '127.0.0.1'],
    [{ 'x-forwarded-for': `${real}, ${Array(40).fill('10.0.0.1').join(',')}` }, '10.0.0.1'],
    [{ forwarded: `for=${real}, for=unknown` }, '127.0.0.1'],
    [{ forwarded: `for=${real}, for=_hidden, for=10.1.2.3` }, '10.1.2.3'],
    [{ forwarded: `for=${real}, proto=https` }, '127.0.0.1'],
    [{ forwarded: `for=${real};for=${real}` }, '127.0.0.1'],
    [{ forwarded: `for="${real}` }, '127.0.0.1'],
    [{ forwarded: `for=${real},` }, '127.0.0.1'],
    [{ forwarded: 'for=[2001:db8::9]' }, '127.0.0.1'],
    [{ forwarded: 'for="2001:db8::9"' }, '127.0.0.1'],
    [{ forwarded: '' }, '127.0.0.1'],
    // The two headers differ: one of them may be the client's.
    [{ forwarded: `for=${spoofed}`, 'x-forwarded-for': real }, '127.0.0.1'],
    [{ forwarded: `for=${real}`, 'x-forwarded-for': spoofed }, '127.0.0.1'],
    [{ forwarded: 'rubbish', 'x-forwarded-for': real }, '127.0.0.1'],
  ]
  for (const [headers, expected] of unreadable) {
    assert.equal(
      addressOf(peerIs('127.0.0.1', headers), proxies),
      expected,
      JSON.stringify(headers),
    )
  }
})

test("takes the peer's address without a header, and `unknown` for a closed connection", () => {
  assert.equal(addressOf(peerIs('::ffff:127.0.0.1'), proxies), '127.0.0.1')
  assert.equal(addressOf(peerIs('fe80::1%eth0'), proxies), 'fe80::1')
  assert.equal(addressOf(peerIs(undefined), proxies), 'unknown')
  assert.equal(addressOf(peerIs(undefined, { 'x-forwarded-for': spoofed }), proxies), 'unknown')
})
