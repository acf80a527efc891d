// Only this file reads the peer or a forwarding header (ASVS 4.1.3, A11, decision 0021);
// sign-in/verify.routes.ts reads a trusted proxy's URL.
import type { IncomingMessage } from 'node:http'
import { type AddressRanges, canonicalAddress, isInRanges } from '../../basics/ip-addresses.ts'
import { stripBlanks } from './credentials.ts'

type Request = Pick<IncomingMessage, 'headers' | 'socket'>

export const forwardingFields = ['forwarded', 'x-forwarded-for'] as const

/** Returns one spelling; `unknown` if the connection is closed. */
export function addressOf(request: Request, trustedProxies: AddressRanges): string {
  const peer = peerOf(request.socket)
  if (!comesFromTrustedProxy(request, trustedProxies)) return peer
  const { forwarded, 'x-forwarded-for': forwardedFor } = request.headers
  const chains = [
    ...(forwarded === undefined ? [] : [forwardedChain(forwarded)]),
    ...(forwardedFor === undefined ? [] : [forwardedForChain(String(forwardedFor))]),
  ]
  const [address = peer, other = address] = chains.map((chain) => walk(peer, chain, trustedProxies))
  // A proxy that sets one of these fields forwards the client's other one.
  return other === address ? address : peer
}

/** Otherwise a forwarding header is the client's claim. */
export function comesFromTrustedProxy(
  { socket }: Pick<Request, 'socket'>,
  trustedProxies: AddressRanges,
) {
  const peer = peerOf(socket)
  return peer !== 'unknown' && isInRanges(peer, trustedProxies)
}

function peerOf({ remoteAddress = '' }: Request['socket']): string {
  return canonicalAddress(remoteAddress.replace(/%.*/, '')) ?? 'unknown'
}

/** The address nearest to this service is last. */
type Chain = readonly (string | undefined)[]

const maxHops = 32

/** A client can invent what is left of the first address that is not trusted. */
function walk(peer: string, chain: Chain, trustedProxies: AddressRanges): string {
  let last = peer
  for (const address of chain.toReversed()) {
    if (address === undefined) break
    last = address
    if (!isInRanges(address, trustedProxies)) break
  }
  return last
}

function forwardedForChain(text: string): Chain {
  const entries = text.split(',').slice(-maxHops)
  return entries.map(stripBlanks).map((entry) => nodeAddress(entry) ?? canonicalAddress(entry))
}

const token = String.raw`[!#$%&'*+.^_\`|~\w-]+`
const pair = new RegExp(
  String.raw`[ \t]*(${token})=(?:(${token})|"((?:[^"\\]|\\.)*)")[ \t]*(,|;|$)`,
  'gy',
)

/** RFC 7239, section 4. Quotes could pair across entries, so one unreadable entry spoils all. */
function forwardedChain(text: string): Chain {
  const elements: string[][] = [[]]
  let end: string | undefined
  for (const [, name = '', bare, quoted = '', separator] of text.matchAll(pair)) {
    end = separator
    if (name.toLowerCase() === 'for') elements.at(-1)?.push(bare ?? quoted.replace(/\\(.)/g, '$1'))
    if (separator === ',') elements.push([])
  }
  const isReadable = end === '' && elements.every(({ length }) => length <= 1)
  return isReadable ? elements.slice(-maxHops).map(([node = '']) => nodeAddress(node)) : [undefined]
}

const nodeShape =
  /^(?:\[(?=[\da-f.]*:)([\da-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::(?:\d{1,5}|_[\w.-]+))?$/i

/** RFC 7239, section 6. Undefined for `unknown` and obfuscated names. */
function nodeAddress(node: string): string | undefined {
  const [, v6, v4 = v6 ?? ''] = nodeShape.exec(node) ?? []
  return canonicalAddress(v4)
}
