// An authenticator app (RFC 6238), written from the standard and not with the package that the
// service uses, and users with one.
import { createHmac } from 'node:crypto'
import type { Proof, TestService, TestUser, Variant } from '../service.ts'

export class Authenticator {
  readonly secret: Buffer
  readonly base32: string

  /** `secret` is base32 (RFC 4648, section 6). */
  constructor(secret: string) {
    const bits = [...secret].map((letter) =>
      'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
    )
    this.base32 = secret
    this.secret = Buffer.from(
      (bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)),
    )
  }

  /** A step takes 30 seconds; `at` is in milliseconds. */
  code(at: number, steps = 0): string {
    const counter = Buffer.alloc(8)
    counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000) + steps))
    const mac = createHmac('sha1', this.secret).update(counter).digest()
    const offset = (mac.at(-1) ?? 0) & 15
    return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
  }

  /** No step around this time has the code. */
  wrongCode(at: number): string {
    const right = new Set([-2, -1, 0, 1, 2].map((steps) => this.code(at, steps)))
    return (
      ['000000', '111111', '222222', '333333', '444444', '555555'].find(
        (code) => !right.has(code),
      ) ?? ''
    )
  }
}

export type CarefulUser = TestUser & {
  app: Authenticator
  factorId: string
  recoveryCodes: string[]
}

/** The app is confirmed, one minute after its first code. */
export async function carefulUser(service: TestService, name?: string): Promise<CarefulUser> {
  const user = await service.user(name)
  const proof = await service.signIn(user, 'stateful')
  const { id, secret } = (await service.post('/api/me/factors/totp', {}, proof)).json().data
  const app = new Authenticator(secret)
  const confirmed = await service.post(
    '/api/me/factors/totp/confirm',
    { id, code: app.code(service.now()) },
    proof,
  )
  if (confirmed.status !== 200)
    throw new Error(`the factor got ${confirmed.status}: ${confirmed.text}`)
  await service.post('/logout', undefined, proof)
  service.pass(60_000)
  return { ...user, app, factorId: id, recoveryCodes: confirmed.json().data.recoveryCodes }
}

export async function challengeOf(
  service: TestService,
  { username, password }: Omit<TestUser, 'id'>,
  variant: Variant,
): Promise<string> {
  const response = await service.post('/login', { username, password, variant })
  if (response.status !== 401)
    throw new Error(`the sign-in got ${response.status}: ${response.text}`)
  return response.json().error.challenge
}

/** Uses a code after all that were used. */
export async function signInWithCode(
  service: TestService,
  user: CarefulUser,
  variant: Variant,
): Promise<Proof> {
  service.pass(30_000)
  const challenge = await challengeOf(service, user, variant)
  const response = await service.post('/login/second-factor', {
    challenge,
    code: user.app.code(service.now()),
  })
  if (response.status !== 200)
    throw new Error(`the second factor got ${response.status}: ${response.text}`)
  if (variant === 'stateless') return { authorization: `Bearer ${response.json().token}` }
  return { cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
}
