import * as t from '../http/openapi/schema.ts'
import { maxReturnToLength } from '../pages/places.ts'
import { byDefault, variantOr } from '../sessions/sessions.schemas.ts'

const place = (description: string) => t.text(1, maxReturnToLength, description)

const anyPlace = place(
  'Where the browser goes afterwards: a path, or a URL of an origin in CARILLON_ALLOWED_ORIGINS',
)
export const ProviderQuery = t.object({
  variant: variantOr(byDefault),
  return_to: t.optional(anyPlace),
  challenge: t.optional(t.string('Refused: a sign-in with a challenge begins by the form')),
})

const challengeNote = 'The SHA-256 of a verifier that the page keeps, as base64url'
const challenge = t.string({ pattern: '^[A-Za-z0-9_-]{43}$', description: challengeNote })
const ownOrigin = place('Where the browser goes afterwards: a URL of the page’s own origin')
export const ProviderForm = t.component('ProviderForm', {
  return_to: t.optional(t.example(ownOrigin, 'https://shop.example.org/signed-in')),
  challenge: t.optional(t.example(challenge, 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM')),
})

const someCode = `${t.exampleOf(t.id)}.mHq1v0w5Ov8v3s2mXkq9c1x7Jt4Zb6Ya0LdRfGhUeWk`
const verifier = t.text(
  43,
  128,
  'If the sign-in began with a challenge: the text whose SHA-256 that is',
)
export const ProviderCodeBody = t.component('ProviderCode', {
  code: t.example(t.text(1, 128, '`sign-in-code` of the fragment'), someCode),
  verifier: t.optional(t.example(verifier, 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')),
})
export type ProviderCodeBody = t.TypeOf<typeof ProviderCodeBody>

const LoginProvider = t.component('LoginProvider', {
  name: t.example(t.string(), 'staff'),
  displayName: t.example(t.string('For a button'), 'Example Staff'),
  url: t.example(t.string('Where the button leads'), 'https://bell.example.org/login/with/staff'),
})
export const ProviderList = t.component('ProviderList', { items: t.array(LoginProvider) })

const LinkedAccount = t.component('LinkedAccount', {
  provider: t.example(
    t.nullable(t.string('Null if the provider is no longer one of the service')),
    'staff',
  ),
  displayName: t.example(t.string(), 'Example Staff'),
  email: t.example(t.nullable(t.string('As the provider gave it, for display')), 'ann@example.org'),
  createdAt: t.time,
  lastUsedAt: t.time,
})
const accounts = t.component('LinkedAccounts', { items: t.array(LinkedAccount) })
export const ProviderAccountsResponse = t.dataOf(accounts, 'ProviderAccounts')

const returnTo = t.example(place('As `return_to` of a sign-in'), '/account')
export const ProviderLinkBody = t.component('ProviderLink', {
  returnTo: t.optional(t.orNull(returnTo)),
})
const url = t.example(
  t.string('Where the page sends its browser'),
  'https://id.example.org/auth?client_id=bell',
)
export const ProviderLinkResponse = t.dataOf(
  t.component('ProviderAddress', { url }),
  'ProviderLink',
)
