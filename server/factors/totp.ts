// Codes of an authenticator app (TOTP, RFC 6238): SHA-1, six digits, 30 seconds, which is what every app supports. The two packages are
// loaded with the first use, because most users have no factor.

/** The clock of a phone may be this many steps ahead or behind (RFC 6238, section 5.2). */
const window = 1

/** The secret as base32, the address that an app reads, and its picture (SVG). */
export type NewTotp = { secret: string; uri: string; qr: string }

/** `issuer` and `account` are what the app displays. */
export async function newTotp({ issuer, account }: { issuer: string; account: string }): Promise<NewTotp> {
  const [{ Secret, TOTP }, { renderSVG }] = await Promise.all([import('otpauth'), import('uqr')])
  const secret = new Secret({ size: 20 })
  const uri = new TOTP({ issuer, label: account, secret }).toString()
  // Readers need a border of four modules (ISO/IEC 18004).
  return { secret: secret.base32, uri, qr: renderSVG(uri, { border: 4 }) }
}

/** The time step whose code this is, among that of `at` and one on each side; undefined if it is the code of none. */
export async function stepOfCode(secret: string, code: string, at: number): Promise<number | undefined> {
  const { Secret, TOTP } = await import('otpauth')
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  const token = code.replaceAll(' ', '')
  // Compares in constant time.
  const delta = /^\d{6}$/.test(token) ? totp.validate({ token, timestamp: at, window }) : null
  return delta === null ? undefined : totp.counter({ timestamp: at }) + delta
}
