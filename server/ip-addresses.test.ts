// Converts each address to one spelling, and finds whether an address is in a range.
import assert from 'node:assert/strict'
import { BlockList, isIPv6 } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalAddress, formatRange, isInRanges, networkOf, parseRange } from './ip-addresses.ts'

test('converts every spelling of an address to one; an IPv4 address inside IPv6 becomes plain IPv4', () => {
  const spellings: Record<string, string | undefined> = {
    '10.0.0.1': '10.0.0.1',
    '::ffff:10.0.0.1': '10.0.0.1',
    '::FFFF:A00:1': '10.0.0.1',
    '0:0:0:0:0:ffff:10.0.0.1': '10.0.0.1',
    '::1': '::1',
    '0:0:0:0:0:0:0:1': '::1',
    '2001:DB8:0:0:1:0:0:1': '2001:db8::1:0:0:1',
    '::': '::',
    '010.0.0.1': undefined,
    '10.0.0': undefined,
    '10.0.0.256': undefined,
    '0x7f.1': undefined,
    '2130706433': undefined,
    'fe80::1%eth0': undefined,
    '[::1]': undefined,
    localhost: undefined,
    '': undefined,
  }
  for (const [text, expected] of Object.entries(spellings)) assert.equal(canonicalAddress(text), expected, text)
})

test('reads a CIDR range or a single address, and refuses every other text', () => {
  const ranges: Record<string, string | undefined> = {
    '10.0.0.0/8': '10.0.0.0/8',
    '10.0.0.1': '10.0.0.1',
    '10.0.0.1/32': '10.0.0.1',
    '10.1.2.3/8': '10.0.0.0/8',
    '::ffff:10.0.0.0/104': '10.0.0.0/8',
    'FD00::/8': 'fd00::/8',
    '2001:db8::1/64': '2001:db8::/64',
    '::1/128': '::1',
    '0.0.0.0/0': '0.0.0.0/0',
    '::/0': '::/0',
    '::ffff:0:0/95': undefined,
    '10.0.0.0/33': undefined,
    '::/129': undefined,
    '10.0.0.0/': undefined,
    '10.0.0.0/08': undefined,
    '10.0.0.0/-1': undefined,
    '10.0.0.0/8/8': undefined,
    '/8': undefined,
    '*': undefined,
  }
  for (const [text, expected] of Object.entries(ranges)) {
    const range = parseRange(text)
    assert.equal(range && formatRange(range), expected, text)
  }
})

test('finds the same addresses in a range as BlockList of Node (2,000 random pairs)', () => {
  const addresses = fc.oneof(fc.tuple(fc.ipV4(), fc.ipV4()), fc.tuple(fc.ipV6(), fc.ipV6()))
  fc.assert(
    fc.property(addresses, fc.nat(128), ([one, other], length) => {
      const range = parseRange(`${one}/${isIPv6(one) ? length : length % 33}`)
      const wanted = canonicalAddress(other) ?? ''
      // BlockList also finds IPv4 addresses in IPv6 ranges; here a range has addresses of one version only.
      if (range === undefined || isIPv6(wanted) !== isIPv6(range.address)) return
      const list = new BlockList()
      list.addSubnet(range.address, range.prefix, isIPv6(range.address) ? 'ipv6' : 'ipv4')
      for (const each of [wanted, range.address, networkOf(range.address, range.prefix)])
        assert.equal(isInRanges(each, [range]), list.check(each, isIPv6(each) ? 'ipv6' : 'ipv4'), each)
    }),
    { numRuns: 2_000 },
  )
})
