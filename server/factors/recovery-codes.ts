// Recovery codes: what a user writes down for the day on which the phone is lost. Each has 120 random bits, so a plain hash of it is
// enough (OWASP ASVS 5.0, 6.5.2: at least 112), and works once.
import { hashOf, randomGroups } from '../basics/secrets.ts'

/** Such as `3kfm-xw7p-a2hq-vt5n-8gcd-r6yz`. */
export function newRecoveryCodes(): { codes: string[]; hashes: string[] } {
  const codes = Array.from({ length: 10 }, () => randomGroups({ groups: 6, of: 4 }))
  return { codes, hashes: codes.map(hashOfRecoveryCode) }
}

/** Upper case, blanks and other hyphens do not matter: people type it from paper. */
export function hashOfRecoveryCode(code: string): string {
  return hashOf(code.toLowerCase().replaceAll(/[\s\p{Pd}]/gu, ''))
}
