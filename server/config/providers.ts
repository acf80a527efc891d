import { readFileSync } from 'node:fs'
import {
  type Entry,
  isText,
  maxLength,
  type Report,
  readEntries,
  readOrigins,
  repeated,
} from './entries.ts'
import { isExposed } from './values.ts'

const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const

export type ProviderSetting = {
  readonly name: string
  readonly displayName: string
  readonly issuer: string
  readonly clientId: string
  /** A public client has none. */
  readonly clientSecret: string | undefined
  readonly scopes: readonly string[]
  readonly algorithm: (typeof algorithms)[number]
  /** The endpoints are on one of these. */
  readonly origins: readonly string[]
  readonly createUsers: boolean
  /** The `acr` and `amr` values that prove a second factor at the provider. */
  readonly factors: { readonly acr: readonly string[]; readonly amr: readonly string[] }
}

const identity = ['name', 'issuer', 'clientId', 'clientSecret', 'clientSecretFile']
const members = [
  ...identity,
  'displayName',
  'scopes',
  'algorithm',
  'origins',
  'createUsers',
  'factors',
]

export function readProviders(text: string): readonly ProviderSetting[] {
  return readEntries(text, {
    members,
    max: 20,
    form: '[{"name":"staff","issuer":"https://id.example.org","clientId":"bell","clientSecretFile":"/run/secrets/staff"}]',
    read: readEntry,
    conflicts: (found) =>
      (['name', 'issuer'] as const).flatMap((member) =>
        repeated(found, member).map(
          (twice) => `the ${member} ${twice} is there more than once: write one entry`,
        ),
      ),
  })
}

function readEntry(entry: Entry, report: Report): ProviderSetting {
  const {
    name,
    issuer,
    clientId,
    displayName = name,
    algorithm = 'RS256',
    createUsers = false,
  } = entry
  if (typeof name !== 'string' || !/^[a-z0-9][a-z0-9-]{0,31}$/.test(name))
    report(
      '"name" is required: write 1 to 32 small letters, digits and hyphens, such as "staff"; it is in the URL',
    )
  if (!isText(clientId))
    report('"clientId" is required: write the id that the provider gave this service')
  if (!isText(displayName))
    report('"displayName": write the text of the button, such as "Example Staff"')
  if (!algorithms.some((one) => one === algorithm))
    report(`"algorithm": write one of ${algorithms.join(', ')}, as ID tokens are signed`)
  if (typeof createUsers !== 'boolean') report('"createUsers": write true or false')
  const clientSecret = readClientSecret(entry, report)
  const scopes = readScopes(entry.scopes, report)
  const origins = readEndpointOrigins(issuer, entry.origins, report)
  const factors = readFactors(entry.factors, report)
  const endpoints = { issuer, clientId, clientSecret, scopes, algorithm, origins }
  const setting = { name, displayName, ...endpoints, createUsers, factors }
  return Object.freeze(setting as ProviderSetting)
}

function readClientSecret(
  { clientSecret, clientSecretFile }: Entry,
  report: Report,
): string | undefined {
  if (clientSecret !== undefined && clientSecretFile !== undefined)
    report('"clientSecret" and "clientSecretFile" are both there: keep one of them')
  const text = clientSecretFile === undefined ? clientSecret : contentOf(clientSecretFile, report)
  if (text === undefined) return undefined
  if (typeof text === 'string' && /^[\x20-\x7e]{1,1024}$/.test(text)) return text
  const where =
    clientSecretFile === undefined ? '"clientSecret"' : 'the content of "clientSecretFile"'
  report(
    `${where} is not displayed here: write the secret that the provider gave this service, as one line of ASCII`,
  )
  return undefined
}

function contentOf(path: unknown, report: Report): string | undefined {
  try {
    if (isText(path)) return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
    report('"clientSecretFile": write the path of a file that has the secret')
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    report(`"clientSecretFile" is ${JSON.stringify(path)}, which cannot be read: ${code}`)
  }
  return undefined
}

/** RFC 6749, section 3.3; no ID token without `openid` (OpenID Connect Core 1.0, 3.1.2.1). */
function readScopes(
  scopes: unknown = ['openid', 'profile', 'email'],
  report: Report,
): readonly string[] {
  const isScope = (one: unknown) =>
    typeof one === 'string' && one.length <= maxLength && /^[!#-[\]-~]+$/.test(one)
  const isValid =
    Array.isArray(scopes) &&
    scopes.length <= 20 &&
    scopes.every(isScope) &&
    scopes.includes('openid')
  if (!isValid)
    report('"scopes": write a list of scopes with "openid", such as ["openid", "profile", "email"]')
  return Object.freeze(isValid ? [...scopes] : [])
}

/** Compares values exactly. Blanks separate those of `acr` (OpenID Connect Core 1.0, 3.1.2.1). */
function readFactors(factors: unknown = {}, report: Report): ProviderSetting['factors'] {
  const isValue = (one: unknown) =>
    typeof one === 'string' && one.length <= maxLength && /^[!-~]+$/.test(one)
  const isList = (list: unknown) => Array.isArray(list) && list.length <= 20 && list.every(isValue)
  const isObject = typeof factors === 'object' && factors !== null
  const {
    acr = [],
    amr = [],
    ...others
  } = (isObject ? factors : { unknown: true }) as Record<string, unknown>
  if (isList(acr) && isList(amr) && Object.keys(others).length === 0)
    return Object.freeze({ acr, amr } as ProviderSetting['factors'])
  report(
    '"factors": write the values that prove a second factor there, such as {"acr": ["phr"], "amr": ["mfa"]}',
  )
  return { acr: [], amr: [] }
}

/** Plain http is only for providers on this machine (L7). */
function readEndpointOrigins(issuer: unknown, origins: unknown, report: Report): readonly string[] {
  const own = readIssuer(issuer, report)
  const others = readOrigins(origins, report)
  return Object.freeze(own === undefined ? [] : [own, ...others])
}

function readIssuer(issuer: unknown, report: Report): string | undefined {
  // Discovery 1.0, section 3.
  const url = isText(issuer) && /^https?:\/\/[^\s\\@#?]+$/.test(issuer) ? URL.parse(issuer) : null
  const form = 'the URL that the discovery document has as issuer, such as "https://id.example.org"'
  if (url === null) report(`"issuer" is required: write ${form}`)
  const plain =
    'plain http beyond this machine, where others on the network can read the client secret'
  if (url !== null && isExposed(url.href))
    report(
      `"issuer" is ${JSON.stringify(String(issuer).slice(0, 80))}: ${plain}; write an https URL`,
    )
  return url?.origin
}
