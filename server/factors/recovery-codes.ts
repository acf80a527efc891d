// Recovery codes: what a user writes down for the day on which the phone is lost. Each has 120 random bits, so a plain hash of it is
// enough (OWASP ASVS 5.0, 6.5.2: at least 112), and works once.
import { randomBytes } from 'node:crypto'
import { hashOf } from '../sealing/secrets.ts'

const count = 10
const characters = 24
/** Without l, o, 0 and 1, which look alike: five bits each. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'

/** Such as `3kfm-xw7p-a2hq-vt5n-8gcd-r6yz`. */
export function newRecoveryCodes(): { codes: string[]; hashes: string[] } {
  const codes = Array.from({ length: count }, newCode)
  return { codes, hashes: codes.map(hashOfRecoveryCode) }
}

function newCode(): string {
  const text = Array.from(randomBytes(characters), (byte) => alphabet[byte % alphabet.length]).join('')
  return (text.match(/.{4}/g) ?? []).join('-')
}

/** Upper case, blanks and other hyphens do not matter: people type it from paper. */
export function hashOfRecoveryCode(code: string): string {
  return hashOf(code.toLowerCase().replaceAll(/[\s\p{Pd}]/gu, ''))
}
