// Which client sent this request? The address for the log and for limits comes from here alone; nothing else reads the
// peer of the connection or a forwarding header (ASVS 4.1.3, row A11; docs/decisions/0021-client-addresses.md), except that
// original-url.ts reads a URL from a trusted proxy.
import type { IncomingMessage, Server } from 'node:http'
import { stripBlanks } from '../../blanks.ts'
import { type AddressRange, canonicalAddress, isInRanges } from '../../ip-addresses.ts'

/**
 * - `connection`: the peer of the connection; no forwarding header came.
 * - `ignored`: the peer of the connection; a forwarding header came, and the peer is not a trusted proxy.
 * - `header`: read from a forwarding header of a trusted proxy.
 * - `unclear`: the last trusted proxy; the entry before it is unreadable, or the two headers differ.
 */
export type AddressSource = 'connection' | 'ignored' | 'header' | 'unclear'

/** `hops`: how many addresses of trusted proxies the header has after this one. */
export type TracedAddress = { address: string; source: AddressSource; hops: number }

type Request = Pick<IncomingMessage, 'headers' | 'socket'>

/** RFC 5952 for IPv6, dotted for IPv4; `unknown` if the connection is already closed. */
export function addressOf(request: Request, trustedProxies: readonly AddressRange[]): string {
  return traceAddress(request, trustedProxies).address
}

export function traceAddress({ headers, socket }: Request, trustedProxies: readonly AddressRange[]): TracedAddress {
  const peer = peerOf(socket)
  const { forwarded, 'x-forwarded-for': forwardedFor } = headers
  if (forwarded === undefined && forwardedFor === undefined) return { address: peer, source: 'connection', hops: 0 }
  if (peer === 'unknown' || !isInRanges(peer, trustedProxies)) return { address: peer, source: 'ignored', hops: 0 }
  const isTrusted = (address: string) => isInRanges(address, trustedProxies)
  const chains = [
    ...(forwarded === undefined ? [] : [forwardedChain(forwarded)]),
    ...(forwardedFor === undefined ? [] : [forwardedForChain([forwardedFor].flat().join(','))]),
  ]
  const [traced, other] = chains.map((chain) => walk(peer, chain, isTrusted)) as [TracedAddress, TracedAddress?]
  // A proxy that sets one of the two forwards the other as the client sent it, and here is no way to know which one that is.
  if (other !== undefined && other.address !== traced.address) return { address: peer, source: 'unclear', hops: 0 }
  return traced
}

/** Whether a trusted proxy sent this request: only then is a forwarding header more than the client's claim. */
export function comesFromTrustedProxy({ socket }: Pick<Request, 'socket'>, trustedProxies: readonly AddressRange[]) {
  const peer = peerOf(socket)
  return peer !== 'unknown' && isInRanges(peer, trustedProxies)
}

/**
 * Calls `onFound` for the first request with a forwarding header of a peer that is not a trusted proxy, and no more. Behind such a proxy every
 * client has one address, so that a hundred wrong passwords of one client delay the sign-ins of all others.
 */
export function watchForUntrustedProxy(
  server: Server,
  trustedProxies: readonly AddressRange[],
  onFound: (address: string) => void,
): void {
  let trustedPeer: string | undefined
  const check = (request: IncomingMessage) => {
    const { headers, socket } = request
    if (headers['x-forwarded-for'] === undefined && headers.forwarded === undefined) return
    // The usual case behind a proxy, without a look at the ranges.
    if (trustedPeer !== undefined && socket.remoteAddress === trustedPeer) return
    const { address, source } = traceAddress(request, trustedProxies)
    if (source === 'ignored') {
      server.off('request', check)
      onFound(address)
    } else trustedPeer = socket.remoteAddress
  }
  server.on('request', check)
}

function peerOf({ remoteAddress = '' }: Request['socket']): string {
  return canonicalAddress(remoteAddress.replace(/%.*$/, '')) ?? 'unknown'
}

/** The addresses of a header, the nearest to this service last. `undefined` is an entry without an address. */
type Chain = readonly (string | undefined)[]

const maxHops = 32

/** From the right, past trusted proxies, to the first address that is not one: the client can invent every entry left of it. */
function walk(peer: string, chain: Chain, isTrusted: (address: string) => boolean): TracedAddress {
  const traced: TracedAddress = { address: peer, source: 'header', hops: 0 }
  for (let hops = 0; hops < chain.length; hops++) {
    const address = chain[chain.length - 1 - hops]
    if (address === undefined || hops === maxHops) return { ...traced, source: 'unclear' }
    Object.assign(traced, { address, hops })
    if (!isTrusted(address)) break
  }
  return traced
}

function forwardedForChain(text: string): Chain {
  return text.split(',').map((entry) => {
    const stripped = stripBlanks(entry)
    return nodeAddress(stripped) ?? canonicalAddress(stripped)
  })
}

const token = String.raw`[!#$%&'*+.^_\`|~\w-]+`
const pair = new RegExp(String.raw`[ \t]*(${token})=(?:(${token})|"((?:[^"\\]|\\.)*)")[ \t]*(,|;|$)`, 'y')

/** `Forwarded` (RFC 7239, section 4). One unreadable entry makes the whole header unreadable, since quotes could pair across entries. */
function forwardedChain(text: string): Chain {
  const chain: (string | undefined)[] = []
  let nodes: (string | undefined)[] = []
  pair.lastIndex = 0
  for (;;) {
    const [whole, name = '', bare, quoted = '', end] = pair.exec(text) ?? []
    if (whole === undefined) return [undefined]
    if (name.toLowerCase() === 'for') {
      if (nodes.length > 0) return [undefined]
      nodes = [nodeAddress(bare ?? quoted.replace(/\\(.)/g, '$1'))]
    }
    if (end === ';') continue
    chain.push(nodes[0])
    if (end === '') return chain
    nodes = []
  }
}

const nodeShape = /^(?:\[([\da-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::(?:\d{1,5}|_[\w.-]+))?$/i

/** RFC 7239, section 6: an IPv4 address, or IPv6 in brackets, perhaps with a port; undefined for `unknown` and obfuscated names. */
function nodeAddress(node: string): string | undefined {
  const [, v6, v4] = nodeShape.exec(node) ?? []
  if (v6 !== undefined && !v6.includes(':')) return undefined
  return canonicalAddress(v6 ?? v4 ?? '')
}
