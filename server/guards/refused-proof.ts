// Says what a refused request presented, with the same text for valid and made-up proofs, and
// without values, which may be secrets.
import type { FastifyRequest } from 'fastify'
import { counts } from '../basics/counts.ts'
import { type CarillonError, notAuthenticated, type ProofRefusal } from '../basics/errors.ts'
import { authorizationsOf, bearerToken } from '../http/request/credentials.ts'

const proofs = {
  user: 'the token of a user as `Authorization: Bearer ...`, or the session cookie',
  token: 'the token of a sign-in as `Authorization: Bearer ...`',
  producer: 'a producer key (carillon key add) as `Authorization: Bearer crl_...`',
  operator: 'the cookie of a session, and no token or key',
}
const secretForm = /\b(?:crl_|eyJ)/
/** They name other pages and applications. */
const addressFields = /^(?:referer|x-.*-ur[il])$/
const sessionCookie = /\bcarillon=/

type Found = [field: string, reason: string, refusal?: ProofRefusal]

export function refusedProof(request: FastifyRequest, proof: keyof typeof proofs): CarillonError {
  const [field, reason, refusal] = inAuthorization(request, proof) ?? elsewhere(request, proof)
  if (refusal === undefined) counts.refusedProofs.missing++
  return notAuthenticated(
    [{ field, reason: `${reason}: this route takes ${proofs[proof]}` }],
    refusal,
  )
}

function inAuthorization({ raw }: FastifyRequest, proof: keyof typeof proofs): Found | undefined {
  const fields = authorizationsOf(raw)
  if (fields.length === 0) return undefined
  if (fields.length > 1) return ['Authorization', 'is sent more than once', 'not-well-formed']
  const presented = bearerToken(fields)
  if (presented === null)
    return ['Authorization', 'is not `Bearer`, a blank and one token or key', 'not-well-formed']
  const isKey = presented.startsWith('crl_')
  const has = isKey ? 'has a producer key' : 'has a token'
  if (proof === 'operator' || isKey !== (proof === 'producer'))
    return ['Authorization', has, 'other-kind']
  const refusal = isKey ? 'key-not-valid' : 'token-not-valid'
  return ['Authorization', `${has} that is unknown, expired or revoked`, refusal]
}

function elsewhere({ raw, query }: FastifyRequest, proof: keyof typeof proofs): Found {
  for (const [name, value] of Object.entries(query as object))
    if (/token|api_?key/i.test(name) || secretForm.test(String(value)))
      return [
        'query',
        'has a token or key, which no URL may have because URLs are logged',
        'in-query',
      ]
  const { cookie = '', ...others } = raw.headers
  for (const [name, value] of Object.entries(others))
    if (!addressFields.test(name) && secretForm.test(String(value)))
      return [name, 'is not read and has a token or key', 'in-another-field']
  if (cookie.includes('crl_')) return ['Cookie', 'has a producer key', 'in-another-field']
  if (!sessionCookie.test(cookie)) return ['Authorization', 'is missing']
  if (proof === 'user' || proof === 'operator')
    return ['Cookie', 'has a session that has ended or is unknown', 'session-ended']
  return ['Cookie', 'has a session', 'other-kind']
}
