import { base64url, decodeJwt, decodeProtectedHeader } from 'jose'
import type { Exchange } from '../../server/api.ts'

/** `name`: finds the explanation. `time`: milliseconds since 1970. */
export type Part = { name: string; value: string; time?: number }
type TokenParts = Readonly<Record<'header' | 'claims' | 'signature', readonly Part[]>>

export function cookieSetBy({ response }: Exchange, cookieName: string): Part[] {
  const set = response.fields
    .filter(([name]) => name.toLowerCase() === 'set-cookie')
    .map(([, text]) => text)
  const line = set.find((text) => text.startsWith(`${cookieName}=`))
  if (line === undefined) return []
  const [pair = '', ...attributes] = line.split('; ')
  const [user, family, secret] = pair.slice(cookieName.length + 1).split('.')
  const entries = [
    ['name', cookieName],
    ['user', user],
    ['family', family],
    ['secret', secret],
    ...attributes.map((attribute) => attribute.split('=')),
  ]
  return entries.map(([name = '', value = '']) => ({ name, value }))
}

export function cookieSentBy(exchange: Exchange, cookieName: string): string | undefined {
  const pairs = fieldOf(exchange, 'cookie')?.split('; ') ?? []
  return pairs.find((pair) => pair.startsWith(`${cookieName}=`))
}

function tokenSentBy(exchange: Exchange): string | undefined {
  return /^Bearer (.+)$/i.exec(fieldOf(exchange, 'authorization') ?? '')?.[1]
}

/** Returns milliseconds since 1970; 0 without a token. */
export function tokenEnd(exchange: Exchange): number {
  try {
    return (decodeJwt(tokenSentBy(exchange) ?? '').exp ?? 0) * 1000
  } catch {
    return 0
  }
}

export function secondsLeft(exchange: Exchange): number {
  return Math.max(0, Math.round((tokenEnd(exchange) - exchange.at) / 1000))
}

export function fieldOf({ request }: Exchange, name: string): string | undefined {
  return request.fields.find(([one]) => one.toLowerCase() === name)?.[1]
}

/** Undefined if it is no signed token (RFC 7515, section 7.1). */
export function tokenParts(token: string): TokenParts | undefined {
  try {
    const signature = [{ name: 'signature', value: token.split('.')[2] ?? '' }]
    return {
      header: partsOf(decodeProtectedHeader(token)),
      claims: partsOf(decodeJwt(token)),
      signature,
    }
  } catch {
    return undefined
  }
}

export function partsOf(members: object): Part[] {
  const entries = Object.entries(members).filter(([, value]) => value !== null)
  return entries.map(([name, value]) => ({
    name,
    value: typeof value === 'string' ? value : JSON.stringify(value),
    ...(typeof value === 'number' && timeOf(name, value)),
  }))
}

/** Rows have times in milliseconds, tokens in seconds. */
function timeOf(name: string, value: number): { time: number } | undefined {
  if (name.endsWith('_at')) return { time: value }
  return ['iat', 'exp', 'auth_time'].includes(name) ? { time: value * 1000 } : undefined
}

/** Leaves the signature as it was. */
export function withName(token: string, name: string): string {
  const [header = '', , signature = ''] = token.split('.')
  return [header, pieceOf({ ...decodeJwt(token), preferred_username: name }), signature].join('.')
}

/** RFC 7519, section 6. */
export function withoutSignature(token: string): string {
  const [, claims = ''] = token.split('.')
  return [pieceOf({ ...decodeProtectedHeader(token), alg: 'none' }), claims, ''].join('.')
}

const pieceOf = (members: object) => base64url.encode(JSON.stringify(members))
