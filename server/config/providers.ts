// Reads CARILLON_PROVIDERS: the OpenID providers with which users can sign in. All mistakes are reported at once, each with the entry,
// the member, and what to write instead; none of the messages has a client secret.
import { readFileSync } from 'node:fs'
import { type Entry, isText, maxLength, type Report, readEntries, readOrigins, repeated } from './entries.ts'
import { isExposed } from './values.ts'

const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const

export type ProviderSetting = {
  /** In the path of its routes. */
  readonly name: string
  readonly displayName: string
  /** Exactly as `iss` and the discovery document have it, a slash at the end included. */
  readonly issuer: string
  readonly clientId: string
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined
  readonly scopes: readonly string[]
  readonly algorithm: (typeof algorithms)[number]
  /** Where its endpoints may be: the issuer's own origin first. */
  readonly origins: readonly string[]
  readonly createUsers: boolean
}

const identity = ['name', 'issuer', 'clientId', 'clientSecret', 'clientSecretFile']
const members = [...identity, 'displayName', 'scopes', 'algorithm', 'origins', 'createUsers']

/** Throws INVALID_REQUEST with every mistake. */
export function readProviders(text: string): readonly ProviderSetting[] {
  return readEntries(text, {
    members,
    max: 20,
    form: '[{"name":"staff","issuer":"https://id.example.org","clientId":"bell","clientSecretFile":"/run/secrets/staff"}]',
    read: readEntry,
    conflicts: (found) =>
      (['name', 'issuer'] as const).flatMap((member) =>
        repeated(found, member).map((twice) => `the ${member} ${twice} is there more than once: write one entry`),
      ),
  })
}

function readEntry(entry: Entry, report: Report): ProviderSetting {
  const { name, issuer, clientId, displayName = name, algorithm = 'RS256', createUsers = false } = entry
  if (typeof name !== 'string' || !/^[a-z0-9][a-z0-9-]{0,31}$/.test(name))
    report('"name" is required: write 1 to 32 small letters, digits and hyphens, such as "staff"; it is in the URL')
  if (!isText(clientId)) report('"clientId" is required: write the id that the provider gave this service')
  if (!isText(displayName)) report('"displayName": write the text of the button, such as "Example Staff"')
  if (!algorithms.some((one) => one === algorithm))
    report(`"algorithm": write one of ${algorithms.join(', ')}, as ID tokens are signed`)
  if (typeof createUsers !== 'boolean') report('"createUsers": write true or false')
  const clientSecret = readClientSecret(entry, report)
  const scopes = readScopes(entry.scopes, report)
  const origins = readEndpointOrigins(issuer, entry.origins, report)
  const setting = { name, displayName, issuer, clientId, clientSecret, scopes, algorithm, origins, createUsers }
  return Object.freeze(setting as ProviderSetting)
}

function readClientSecret({ clientSecret, clientSecretFile }: Entry, report: Report): string | undefined {
  if (clientSecret !== undefined && clientSecretFile !== undefined)
    report('"clientSecret" and "clientSecretFile" are both there: keep one of them')
  const text = clientSecretFile === undefined ? clientSecret : contentOf(clientSecretFile, report)
  if (text === undefined) return undefined
  if (typeof text === 'string' && /^[\x20-\x7e]{1,1024}$/.test(text)) return text
  const where = clientSecretFile === undefined ? '"clientSecret"' : 'the content of "clientSecretFile"'
  report(`${where} is not displayed here: write the secret that the provider gave this service, as one line of ASCII`)
  return undefined
}

/** Without its last line break, which editors and `echo` add; undefined if it cannot be read, which is reported. */
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

/** RFC 6749, section 3.3; without `openid` there is no ID token (OpenID Connect Core 1.0, section 3.1.2.1). */
function readScopes(scopes: unknown = ['openid', 'profile', 'email'], report: Report): readonly string[] {
  const isScope = (one: unknown) => typeof one === 'string' && one.length <= maxLength && /^[!#-[\]-~]+$/.test(one)
  const isValid = Array.isArray(scopes) && scopes.length <= 20 && scopes.every(isScope) && scopes.includes('openid')
  if (!isValid) report('"scopes": write a list of scopes with "openid", such as ["openid", "profile", "email"]')
  return Object.freeze(isValid ? [...scopes] : [])
}

/** The origins to which requests go and to which browsers are sent. Plain http is for a provider on this machine (L7). */
function readEndpointOrigins(issuer: unknown, origins: unknown, report: Report): readonly string[] {
  const own = readIssuer(issuer, report)
  const others = readOrigins(origins, report)
  return Object.freeze(own === undefined ? [] : [own, ...others])
}

function readIssuer(issuer: unknown, report: Report): string | undefined {
  // An issuer has no query and no fragment (Discovery 1.0, section 3).
  const url = isText(issuer) && /^https?:\/\/[^\s\\@#?]+$/.test(issuer) ? URL.parse(issuer) : null
  const form = 'the URL that the discovery document has as issuer, such as "https://id.example.org"'
  if (url === null) report(`"issuer" is required: write ${form}`)
  const plain = 'plain http beyond this machine, where others on the network can read the client secret'
  if (url !== null && isExposed(url.href))
    report(`"issuer" is ${JSON.stringify(String(issuer).slice(0, 80))}: ${plain}; write an https URL`)
  return url?.origin
}
