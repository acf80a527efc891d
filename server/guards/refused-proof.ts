// What a refused request presented in place of a proof. Only the form counts, without a look-up: a valid, an expired and a made-up proof
// have the same text. No value is repeated, because it may be a secret.
import type { FastifyRequest } from 'fastify'
import { type CarillonError, notAuthenticated } from '../basics/errors.ts'
import { authorizationsOf, bearerToken } from '../http/request/credentials.ts'

const proofs = {
  user: 'the token of a user as `Authorization: Bearer ...`, or the session cookie',
  token: 'the token of a sign-in as `Authorization: Bearer ...`',
  producer: 'a producer key (carillon key add) as `Authorization: Bearer crl_...`',
}
/** How a producer key and a JSON Web Token begin. */
const secretForm = /\b(?:crl_|eyJ)/
/** The cookie of a session; `__Host-` or `__Secure-` may precede the name. */
const sessionCookie = /\bcarillon=/

type Found = [field: string, reason: string]

/** The refusal of a route that takes the `proof`. */
export function refusedProof(request: FastifyRequest, proof: keyof typeof proofs): CarillonError {
  const [field, reason] = inAuthorization(request, proof) ?? elsewhere(request, proof)
  return notAuthenticated([{ field, reason: `${reason}: this route takes ${proofs[proof]}` }])
}

function inAuthorization({ raw }: FastifyRequest, proof: keyof typeof proofs): Found | undefined {
  const fields = authorizationsOf(raw)
  if (fields.length === 0) return undefined
  if (fields.length > 1) return ['Authorization', 'is sent more than once']
  const presented = bearerToken(fields)
  if (presented === null) return ['Authorization', 'is not `Bearer`, a blank and one token or key']
  const isKey = presented.startsWith('crl_')
  const has = isKey ? 'has a producer key' : 'has a token'
  return ['Authorization', isKey === (proof === 'producer') ? `${has} that is unknown, expired or revoked` : has]
}

function elsewhere({ raw, query }: FastifyRequest, proof: keyof typeof proofs): Found {
  for (const [name, value] of Object.entries(query as object))
    if (/token|api_?key/i.test(name) || secretForm.test(String(value)))
      return ['query', 'has a token or key, which no URL may have because URLs are logged']
  const { cookie = '', referer: _, ...others } = raw.headers
  for (const [name, value] of Object.entries(others))
    if (secretForm.test(String(value))) return [name, 'is not read and has a token or key']
  if (cookie.includes('crl_')) return ['Cookie', 'has a producer key']
  if (!sessionCookie.test(cookie)) return ['Authorization', 'is missing']
  return ['Cookie', proof === 'user' ? 'has a session that has ended or is unknown' : 'has a session']
}
