import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { isSoak } from '../../tests/support/soak.ts'
import {
  canonicalAddress,
  formatRange,
  isInRanges,
  networkOf,
  parseRange,
  rangesOf,
} from './ip-addresses.ts'

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
  for (const [text, expected] of Object.entries(spellings))
    assert.equal(canonicalAddress(text), expected, text)
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

test('finds an address in a range of its own version, and in no other', () => {
  const found: [string, string, boolean][] = [
    ['10.0.0.0', '10.0.0.0/8', true],
    ['10.255.255.255', '10.0.0.0/8', true],
    ['11.0.0.0', '10.0.0.0/8', false],
    ['10.0.0.1', '10.0.0.1', true],
    ['10.0.0.1', '::ffff:10.0.0.0/104', true],
    ['10.0.0.1', '::/1', false],
    ['fd00::ffff', 'fd00::/112', true],
    ['fd00::1:0', 'fd00::/112', false],
    ['::1', '0.0.0.0/1', false],
  ]
  for (const [address, range, isIn] of found)
    assert.equal(isInRanges(address, rangesOf([range])), isIn, `${address} ${range}`)
  assert.equal(isInRanges('::1', rangesOf([])), false)
})

test('clears the bits after a prefix of any length (2,000 random addresses)', () => {
  const bitsOf = (address: string) =>
    ipaddr
      .parse(address)
      .toByteArray()
      .map((byte) => byte.toString(2).padStart(8, '0'))
      .join('')
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(128), (text, length) => {
      const address = canonicalAddress(text) ?? ''
      const bits = bitsOf(address)
      const prefix = Math.min(length, bits.length)
      assert.equal(
        bitsOf(networkOf(address, prefix)),
        bits.slice(0, prefix).padEnd(bits.length, '0'),
      )
    }),
    { numRuns: isSoak ? 2_000 : 300 },
  )
})
