// A forged token, as someone would make it who wants to be another user: one other character, and everything but the name as it was.
import { claimsOf } from './signature.ts'

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Throws if no single character gives another name; a name of letters and digits always has one. */
export function withOtherName(token: string): string {
  const name = claimsOf(token)?.preferred_username
  const [header = '', payload = '', signature = ''] = token.split('.')
  for (let at = 0; at < payload.length; at++)
    for (const letter of letters) {
      const forged = [header, payload.slice(0, at) + letter + payload.slice(at + 1), signature].join('.')
      const forgedName = claimsOf(forged)?.preferred_username
      if (typeof forgedName === 'string' && forgedName !== name && /^[a-z\d]+$/.test(forgedName)) return forged
    }
  throw new Error('the token has no name that one character changes')
}
