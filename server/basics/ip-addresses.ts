// IPv4 and IPv6 addresses and ranges (CIDR, RFC 4632 and RFC 4291). Each address has one spelling here: equal texts are the same address.
import { BlockList, isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** `prefix` is the number of leading bits that the range fixes. */
type AddressRange = { address: string; prefix: number }
/** A list for each version: BlockList also finds IPv4 addresses in ranges of IPv6, such as ::/1. */
export type AddressRanges = Record<'ipv4' | 'ipv6', BlockList>

/** RFC 5952 for IPv6, the dotted form for IPv4 and for IPv4 inside IPv6 (`::ffff:10.0.0.1`). Undefined if it is not an address. */
export function canonicalAddress(text: string): string | undefined {
  // ipaddr.js also reads octal and hexadecimal parts of IPv4, and zones.
  if (isIPv4(text)) return text
  return isIPv6(text) && !text.includes('%') ? ipaddr.process(text).toString() : undefined
}

/** `10.0.0.0/8`, or a single address. Undefined if it is neither. Bits after the prefix are kept. */
export function parseRange(text: string): AddressRange | undefined {
  const [, addressText = '', length] = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const address = canonicalAddress(addressText)
  if (address === undefined) return undefined
  const bits = bitsOf(address)
  const prefix = length === undefined ? bits : Number(length) - (isIPv6(addressText) ? 128 - bits : 0)
  return prefix >= 0 && prefix <= bits ? { address, prefix } : undefined
}

/** The text of the range, with every bit after its prefix set to 0. */
export function formatRange({ address, prefix }: AddressRange): string {
  return prefix === bitsOf(address) ? address : `${networkOf(address, prefix)}/${prefix}`
}

/** `texts`: valid ranges. */
export function rangesOf(texts: readonly string[]): AddressRanges {
  const ranges = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const { address, prefix } of texts.map((text) => parseRange(text) as AddressRange))
    ranges[familyOf(address)].addSubnet(address, prefix, familyOf(address))
  return ranges
}

/** Whether an address, in its one spelling, is in one of the ranges. */
export function isInRanges(address: string, ranges: AddressRanges): boolean {
  const family = familyOf(address)
  return ranges[family].check(address, family)
}

/** Whether the ranges together are every IPv4 address, or every IPv6 address. `texts`: valid ranges. */
export function coverEverything(texts: readonly string[]): boolean {
  const widest: string[] = []
  const shares: Record<'ipv4' | 'ipv6', number> = { ipv4: 0, ipv6: 0 }
  const ranges = texts.map((text) => parseRange(text) as AddressRange)
  // Two ranges overlap only if one is inside the other, so those that are inside no other add up.
  for (const range of ranges.toSorted((a, b) => a.prefix - b.prefix)) {
    if (isInRanges(range.address, rangesOf(widest))) continue
    widest.push(formatRange(range))
    shares[familyOf(range.address)] += 2 ** -range.prefix
  }
  return shares.ipv4 >= 1 || shares.ipv6 >= 1
}

export function networkOf(address: string, prefix: number): string {
  return (isIPv6(address) ? ipaddr.IPv6 : ipaddr.IPv4).networkAddressFromCIDR(`${address}/${prefix}`).toString()
}

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6')
const bitsOf = (address: string) => (isIPv4(address) ? 32 : 128)
