// The shapes of access tokens: what an application requests, what it gets, and the public keys.
import { expiresAt } from '../http/openapi/members.ts'
import * as t from '../http/openapi/schema.ts'
import { maxTokenLifeSeconds } from '../tokens/read-token.ts'

const lifetime = { minimum: 1, maximum: maxTokenLifeSeconds, default: maxTokenLifeSeconds, description: 'Seconds' }
export const IssueBody = t.component('TokenRequest', {
  scope: t.oneOf(['inbox'], 'What the token opens'),
  lifetime: t.optional(t.example(t.integer(lifetime), 600)),
})
export const token = t.example(
  t.string(),
  'eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiIwMTlhOWIzZSJ9.c2lnbmF0dXJl',
)
export const TokenResponse = t.dataOf(t.component('Token', { token, expiresAt }))

const key = t.example(t.record(t.anything), {
  kty: 'OKP',
  crv: 'Ed25519',
  x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  kid: 'u5Yk0cKRdvGBvsY7',
  alg: 'EdDSA',
  use: 'sig',
})
export const KeySet = t.component('KeySet', { keys: t.array(key) })
