// Which client sent this request? The address for the log and for limits comes from here alone; nothing else reads the
// peer of the connection or a forwarding header (ASVS 4.1.3, row A11; docs/decisions/0021-client-addresses.md), except that
// original-url.ts reads a URL from a trusted proxy.
import type { IncomingMessage, Server } from 'node:http'
import { stripBlanks } from '../../blanks.ts'
import { type AddressRange, canonicalAddress, isInRanges } from '../../ip-addresses.ts'

type Request = Pick<IncomingMessage, 'headers' | 'socket'>

/**
 * RFC 5952 for IPv6, dotted for IPv4; `unknown` if the connection is already closed. The peer of the connection, unless it is a trusted proxy
 * that names the client.
 */
export function addressOf(request: Request, trustedProxies: readonly AddressRange[]): string {
  const { headers, socket } = request
  const peer = peerOf(socket)
  const { forwarded, 'x-forwarded-for': forwardedFor } = headers
  if (forwarded === undefined && forwardedFor === undefined) return peer
  if (!comesFromTrustedProxy(request, trustedProxies)) return peer
  const isTrusted = (hop: string) => isInRanges(hop, trustedProxies)
  const chains = [
    ...(forwarded === undefined ? [] : [forwardedChain(forwarded)]),
    ...(forwardedFor === undefined ? [] : [forwardedForChain([forwardedFor].flat().join(','))]),
  ]
  const [address = peer, other = address] = chains.map((chain) => walk(peer, chain, isTrusted))
  // A proxy that sets one of the two forwards the other as the client sent it, and here is no way to know which one that is.
  return other === address ? address : peer
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
    if (comesFromTrustedProxy(request, trustedProxies)) {
      trustedPeer = socket.remoteAddress
    } else {
      server.off('request', check)
      onFound(peerOf(socket))
    }
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
function walk(peer: string, chain: Chain, isTrusted: (address: string) => boolean): string {
  let last = peer
  for (let hops = 0; hops < chain.length; hops++) {
    const address = chain[chain.length - 1 - hops]
    if (address === undefined || hops === maxHops) return last
    last = address
    if (!isTrusted(address)) break
  }
  return last
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
