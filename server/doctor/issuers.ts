// Can the keys of every issuer in CARILLON_ISSUERS be read from this machine?
import type { IssuerSetting } from '../config/issuers.ts'
import { readKeySet } from '../issuers/key-set.ts'
import { type Finding, faultOf, ok } from './finding.ts'

const check = 'issuer'

export function examineIssuers(issuers: readonly IssuerSetting[]): Promise<Finding[]> {
  return Promise.all(issuers.map(examineIssuer))
}

async function examineIssuer(issuer: IssuerSetting): Promise<Finding> {
  try {
    await readKeySet(issuer)
    return ok(check, `the keys of ${issuer.issuer} for ${issuer.algorithms.join(', ')} can be read`)
  } catch (error) {
    return faultOf(check, error, 'CARILLON_ISSUERS')
  }
}
