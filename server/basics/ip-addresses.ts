// Each address has one spelling here, so equal texts are one address (RFC 4632, RFC 4291).
import { BlockList, isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

type AddressRange = { address: string; prefix: number }
/** BlockList also finds IPv4 addresses in IPv6 ranges such as ::/1. */
export type AddressRanges = Record<'ipv4' | 'ipv6', BlockList>

/** RFC 5952; dotted for IPv4, also inside IPv6. */
export function canonicalAddress(text: string): string | undefined {
  // ipaddr.js also reads octal and hexadecimal parts and zones.
  if (isIPv4(text)) return text
  return isIPv6(text) && !text.includes('%') ? ipaddr.process(text).toString() : undefined
}

/** False for addresses of this machine, private networks or special use. */
export function isPublicAddress(address: string): boolean {
  const parsed = ipaddr.parse(address)
  // ipaddr.js has no range for IPv4-compatible addresses (RFC 4291, section 2.5.5.1).
  const isCompatible =
    parsed instanceof ipaddr.IPv6 &&
    parsed.match(ipaddr.parseCIDR('::/96') as [ipaddr.IPv6, number])
  return parsed.range() === 'unicast' && !isCompatible
}

export function parseRange(text: string): AddressRange | undefined {
  const [, addressText = '', length] = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const address = canonicalAddress(addressText)
  if (address === undefined) return undefined
  const bits = bitsOf(address)
  // An IPv4 address in IPv6 becomes IPv4, with 96 bits less.
  const bitsLess = isIPv6(addressText) ? 128 - bits : 0
  const prefix = length === undefined ? bits : Number(length) - bitsLess
  return prefix >= 0 && prefix <= bits ? { address, prefix } : undefined
}

export function formatRange({ address, prefix }: AddressRange): string {
  return prefix === bitsOf(address) ? address : `${networkOf(address, prefix)}/${prefix}`
}

export function rangesOf(texts: readonly string[]): AddressRanges {
  const ranges = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const { address, prefix } of texts.map((text) => parseRange(text) as AddressRange))
    ranges[familyOf(address)].addSubnet(address, prefix, familyOf(address))
  return ranges
}

export function isInRanges(address: string, ranges: AddressRanges): boolean {
  const family = familyOf(address)
  return ranges[family].check(address, family)
}

export function coverEverything(texts: readonly string[]): boolean {
  const widest: string[] = []
  const shares: Record<'ipv4' | 'ipv6', number> = { ipv4: 0, ipv6: 0 }
  const ranges = texts.map((text) => parseRange(text) as AddressRange)
  // Ranges overlap only if one contains the other: those inside no other are summed.
  for (const range of ranges.toSorted((a, b) => a.prefix - b.prefix)) {
    if (isInRanges(range.address, rangesOf(widest))) continue
    widest.push(formatRange(range))
    shares[familyOf(range.address)] += 2 ** -range.prefix
  }
  return shares.ipv4 >= 1 || shares.ipv6 >= 1
}

export function networkOf(address: string, prefix: number): string {
  return (isIPv6(address) ? ipaddr.IPv6 : ipaddr.IPv4)
    .networkAddressFromCIDR(`${address}/${prefix}`)
    .toString()
}

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6')
const bitsOf = (address: string) => (isIPv4(address) ? 32 : 128)

// Who is one client? Budgets count by these groups, so that no attack fits between two budgets
// (decision 0039).

export type Client = {
  /** No signed-in user's act is counted by network. */
  address?: string | undefined
  account: string
  /** It proves that the user was here before. */
  device?: string | undefined
}

/** A signed-in user is its own network. */
type ClientGroups = {
  networks: readonly [string, ...string[]]
  network: string
  account: string
  pair: string
}

export function groupsOf({ address, account }: Client): ClientGroups {
  const networks: [string, ...string[]] =
    address === undefined ? [`user ${account}`] : networksOf(address)
  const network = networks.at(-1) ?? networks[0]
  return {
    networks,
    network,
    account: `account ${account}`,
    pair: `${network} ${account}`,
  }
}

/** The IPv4 address, or a client's /64 and a provider customer's /56 and /48 (RFC 6177). */
export function networksOf(address: string): [string, ...string[]] {
  const within = (prefix: number) => `${networkOf(address, prefix)}/${prefix}`
  return isIPv6(address) ? [within(64), within(56), within(48)] : [address]
}

export function wideNetworkOf(address: string): string {
  return networksOf(address).at(-1) ?? address
}
