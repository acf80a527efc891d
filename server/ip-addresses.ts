// IPv4 and IPv6 addresses and ranges (CIDR, RFC 4632 and RFC 4291). Each address has one spelling here, so that two texts are
// the same address exactly if they are equal.
import { isIPv4, isIPv6 } from 'node:net'

/** `address` is in its one spelling; `prefix` is the number of leading bits that the range fixes. */
export type AddressRange = { address: string; prefix: number }

/** RFC 5952 for IPv6, the dotted form for IPv4 and for IPv4 inside IPv6 (`::ffff:10.0.0.1`). Undefined if it is not an address. */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text
  if (!isIPv6(text) || text.includes('%')) return undefined
  const address = new URL(`http://[${text}]`).hostname.slice(1, -1)
  const bytes = bytesOf(address)
  return isMapped(bytes) ? bytes.slice(12).join('.') : address
}

/** `10.0.0.0/8`, or a single address. Undefined if it is neither. Bits after the prefix are kept. */
export function parseRange(text: string): AddressRange | undefined {
  const [, addressText = '', length] = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const address = canonicalAddress(addressText)
  if (address === undefined) return undefined
  const offset = isIPv4(address) && !isIPv4(addressText) ? 96 : 0
  const bits = bitsOf(address)
  const prefix = length === undefined ? bits : Number(length) - offset
  return prefix >= 0 && prefix <= bits ? { address, prefix } : undefined
}

/** The text of the range, with every bit after its prefix set to 0. */
export function formatRange({ address, prefix }: AddressRange): string {
  return prefix === bitsOf(address) ? address : `${networkOf(address, prefix)}/${prefix}`
}

/** Whether an address, in its one spelling, is in one of the ranges. */
export function isInRanges(address: string, ranges: readonly AddressRange[]): boolean {
  const bytes = bytesOf(address)
  return ranges.some((range) => {
    const base = bytesOf(range.address)
    return (
      base.length === bytes.length &&
      base.every((byte, i) => ((byte ^ (bytes[i] ?? 0)) & maskOf(range.prefix, i)) === 0)
    )
  })
}

/** Whether the ranges together are every IPv4 address, or every IPv6 address. */
export function coverEverything(ranges: readonly AddressRange[]): boolean {
  const families = [ranges.filter(({ address }) => isIPv4(address)), ranges.filter(({ address }) => isIPv6(address))]
  return families.some((family) => cover(family, 0))
}

/** `ranges` agree in the first `depth` bits: do they cover that network, by one of them or half by half? */
function cover(ranges: readonly AddressRange[], depth: number): boolean {
  if (ranges.some(({ prefix }) => prefix <= depth)) return true
  if (ranges.length < 2) return false
  const bitOf = ({ address }: AddressRange) => ((bytesOf(address)[depth >> 3] ?? 0) >> (7 - (depth & 7))) & 1
  return [0, 1].every((bit) =>
    cover(
      ranges.filter((range) => bitOf(range) === bit),
      depth + 1,
    ),
  )
}

export function networkOf(address: string, prefix: number): string {
  const bytes = bytesOf(address).map((byte, i) => byte & maskOf(prefix, i))
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16),
  )
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

/** The client's network: a host usually has a whole /64 of IPv6, and can take a new address from it at any time. */
export function networkOfClient(address: string): string {
  return networksOfClient(address)[0]
}

/** The networks that limits count, from narrow to wide: a customer has a /64, a /56 or a /48 of IPv6 (RFC 6177), or an address of IPv4. */
export function networksOfClient(address: string): [string, ...string[]] {
  const within = (prefix: number) => `${networkOf(address, prefix)}/${prefix}`
  return isIPv6(address) ? [within(64), within(56), within(48)] : [address]
}

const bitsOf = (address: string) => (isIPv4(address) ? 32 : 128)
const maskOf = (prefix: number, byte: number) => (0xff00 >> Math.min(8, Math.max(0, prefix - 8 * byte))) & 0xff

function bytesOf(address: string): number[] {
  if (isIPv4(address)) return address.split('.').map(Number)
  const [head = '', tail = ''] = address.split('::')
  const groupsOf = (half: string) => (half === '' ? [] : half.split(':').map((group) => Number.parseInt(group, 16)))
  const [first, last] = [groupsOf(head), groupsOf(tail)]
  const groups = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last]
  return groups.flatMap((group) => [group >> 8, group & 0xff])
}

/** ::ffff:0:0/96 (RFC 4291, section 2.5.5.2): an IPv4 client of a socket that listens on both. */
function isMapped(bytes: readonly number[]): boolean {
  return bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff
}
