// For which host, and for which pages, does this request use passkeys? See sign-in/factors/passkeys/relying-party.ts.
import type { FastifyRequest } from 'fastify'
import { type RelyingParty, relyingPartyOf } from '../../sign-in/factors/passkeys/relying-party.ts'
import type { Dependencies } from '../dependencies.ts'

/** Throws UNPROCESSABLE if browsers accept no passkeys here. */
export function relyingPartyFor(
  { publicUrl, allowedOrigins }: Dependencies,
  { headers }: FastifyRequest,
): RelyingParty {
  return relyingPartyOf({ publicUrl: publicUrl(), host: headers.host, allowedOrigins })
}
