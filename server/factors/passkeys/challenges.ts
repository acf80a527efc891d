// The challenges that passkeys sign. A challenge is authenticated by the service's secret and not stored when it is given: everybody may
// request one, and a flood of requests must not fill the store. Its hash is stored when it is used, so that it is used once.
import { randomBytes } from 'node:crypto'
import type { Sealing } from '../../sealing/sealing.ts'
import { hashOf } from '../../sealing/secrets.ts'

/** `create` for a new passkey of this user, `get` for the use of a passkey, whoever signs in. */
export type Purpose = { ceremony: 'create'; userId: string } | { ceremony: 'get' }

/** What the store needs to know that it was used. `expiresAt`: when no node accepts it any more. */
export type SpentChallenge = { hash: string; expiresAt: number }

const lifetimeMs = 5 * 60_000
/** The clock of another node may be this much behind. */
const clockLeewayMs = 60_000
const shape = /^(\d{13})\.([\w-]{22})\.([\w-]{43})$/

/** Text of 80 characters, of which 128 bits are random. */
export function newChallenge(sealing: Pick<Sealing, 'mac'>, purpose: Purpose, at: number): string {
  const claim = `${at + lifetimeMs}.${randomBytes(16).toString('base64url')}`
  return `${claim}.${sealing.mac('passkeys', boundTo(purpose, claim))}`
}

/** Undefined if the service gave no such challenge for this purpose, or if it expired. It says nothing about an earlier use. */
export function readChallenge(
  sealing: Pick<Sealing, 'isMac'>,
  purpose: Purpose,
  { challenge, at }: { challenge: string; at: number },
): SpentChallenge | undefined {
  const [, expires = '', random = '', mac = ''] = shape.exec(challenge) ?? []
  if (!sealing.isMac('passkeys', boundTo(purpose, `${expires}.${random}`), mac)) return undefined
  const expiresAt = Number(expires)
  return at < expiresAt ? { hash: hashOf(challenge), expiresAt: expiresAt + clockLeewayMs } : undefined
}

function boundTo(purpose: Purpose, claim: string): string {
  return `${purpose.ceremony} ${purpose.ceremony === 'create' ? purpose.userId : ''} ${claim}`
}
