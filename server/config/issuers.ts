// Reads CARILLON_ISSUERS: whose tokens the service accepts beside its own.
import { type Entry, isText, type Report, readEntries, readOrigins, repeated } from './entries.ts'
import { applicationForm, isApplication, isExposed } from './values.ts'

const algorithms = ['RS256', 'ES256', 'EdDSA'] as const
export type IssuerAlgorithm = (typeof algorithms)[number]

export type IssuerSetting = {
  /** A slash at the end counts. */
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly algorithms: readonly IssuerAlgorithm[]
  /** Undefined: found by OpenID Connect Discovery. */
  readonly jwks: string | undefined
  /** The key set is on one of these. */
  readonly origins: readonly string[]
  readonly claim: string
  /** If false, the id is plain: the same for all such issuers and producers. */
  readonly ownIds: boolean
  readonly createUsers: boolean
  readonly application: string
}

const members = [
  'issuer',
  'audience',
  'algorithms',
  'jwks',
  'origins',
  'claim',
  'ids',
  'createUsers',
  'application',
]
const isRepeated =
  'is there more than once: write one entry, with a list of audiences if it needs several'

export function readIssuers(text: string): readonly IssuerSetting[] {
  return readEntries(text, {
    members,
    max: 50,
    form: '[{"issuer":"https://id.example.org","audience":"bell","algorithms":["RS256"]}]',
    read: readEntry,
    conflicts: (found) => repeated(found, 'issuer').map((issuer) => `${issuer} ${isRepeated}`),
  })
}

function readEntry(entry: Entry, report: Report, isOnly: boolean): IssuerSetting {
  const { issuer, jwks, claim = 'sub', ids = isOnly ? 'plain' : 'issuer' } = entry
  const { createUsers = false, application = '' } = entry
  if (!isText(issuer))
    report(
      '"issuer" is required: write the text of the claim iss, such as "https://id.example.org"',
    )
  if (jwks !== undefined) reportAddress('jwks', jwks, report)
  else if (isText(issuer)) reportAddress('issuer', issuer, report)
  const origins = Object.freeze([originOf(issuer), ...readOrigins(entry.origins, report)])
  if (jwks !== undefined && entry.origins !== undefined)
    report('"origins" is for a key set that discovery names: leave it out beside "jwks"')
  if (!isText(claim)) report('"claim": write the name of one claim, such as "sub"')
  if (ids !== 'plain' && ids !== 'issuer') report('"ids": write "plain" or "issuer"')
  if (entry.application !== undefined && !isApplication(application))
    report(`"application": write ${applicationForm}`)
  if (typeof createUsers !== 'boolean') report('"createUsers": write true or false')
  const audiences = readAudiences(entry.audience, report)
  const supported = readAlgorithms(entry.algorithms, report)
  const ownIds = ids === 'issuer'
  const setting = {
    issuer,
    audiences,
    algorithms: supported,
    jwks,
    origins,
    claim,
    ownIds,
    createUsers,
    application,
  }
  return Object.freeze(setting as IssuerSetting)
}

/** "jwks" allows an issuer that is no URL. */
function originOf(issuer: unknown): string {
  return URL.parse(String(issuer))?.origin ?? ''
}

function readAudiences(audience: unknown, report: Report): readonly string[] {
  const list = Array.isArray(audience) ? audience : [audience]
  const what = 'the text that the claim aud has in tokens for this service, or a list of them'
  if (list.length === 0 || !list.every(isText)) report(`"audience" is required: write ${what}`)
  return Object.freeze(list as string[])
}

function readAlgorithms(list: unknown, report: Report): readonly IssuerAlgorithm[] {
  const isValid =
    Array.isArray(list) && list.length > 0 && list.every((one) => algorithms.includes(one))
  if (!isValid)
    report(`"algorithms" is required: write a list of one or more of ${algorithms.join(', ')}`)
  return Object.freeze(isValid ? list : [])
}

function reportAddress(member: 'jwks' | 'issuer', address: unknown, report: Report): void {
  const fault = typeof address === 'string' ? addressFault(address) : 'is not a text'
  if (fault === undefined) return
  const otherwise = member === 'issuer' ? ', or give the address of its key set as "jwks"' : ''
  report(`"${member}" ${fault}; write an https URL, such as "https://id.example.org"${otherwise}`)
}

/** Others on the network could replace the keys. */
function addressFault(text: string): string | undefined {
  const url = /^https?:\/\/[^\s\\@#]+$/i.test(text) ? URL.parse(text) : null
  const is = `is ${JSON.stringify(text.slice(0, 80))}`
  if (url === null) return `${is}, which is no URL to read keys from`
  const plain = 'plain http beyond this machine, where others on the network can replace the keys'
  return isExposed(url.href) ? `${is}: ${plain}` : undefined
}
