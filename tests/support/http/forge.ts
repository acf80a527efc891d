// Signs any claims with the service's own key. If the service refuses such a token, the reason is
// the claim that the test changed, and not the signature.
import { sign } from 'node:crypto'
import { newId } from '../../../server/basics/ids.ts'
import { Sealing } from '../../../server/basics/secrets.ts'
import { SigningKeys } from '../../../server/tokens/signing-keys.ts'
import type { TestService, TestUser } from '../service.ts'

export type Header = Record<string, unknown>
export type Claims = Record<string, unknown>
export type Forge = Awaited<ReturnType<typeof openForge>>

export const encode = (text: string | Buffer): string => Buffer.from(text).toString('base64url')

export async function openForge(app: TestService) {
  const keys = await SigningKeys.open({
    store: app.store,
    sealing: new Sealing({ current: app.sealingSecret }),
    now: app.now,
    lifetimeMs: Number.POSITIVE_INFINITY,
    onFailure: () => {},
  })
  keys.end()
  const { kid, privateKey } = keys.current

  return {
    kid,
    publicKeySet: keys.publicKeySet,
    header: { alg: 'EdDSA', typ: 'at+jwt', kid },

    /** The service would accept a token of these claims. */
    claims({ id, username }: TestUser): Claims {
      const issuedAt = Math.floor(app.now() / 1000)
      return {
        preferred_username: username,
        sid: newId(app.now()),
        auth_time: issuedAt,
        iss: app.url,
        aud: app.url,
        sub: id,
        iat: issuedAt,
        exp: issuedAt + 900,
        jti: newId(app.now()),
        gen: 0,
      }
    },

    /** The service would accept a token of scope `inbox` of these. */
    inboxClaims(user: TestUser): Claims {
      const { preferred_username: _, ...claims } = this.claims(user)
      return { ...claims, scope: 'inbox', ign: 0 }
    },

    async signed(header: string, payload: string): Promise<string> {
      return `${header}.${payload}.${encode(sign(null, Buffer.from(`${header}.${payload}`), privateKey))}`
    },

    /** Neither text has to be valid JSON. */
    token(header: string | Header, payload: string | Claims | Buffer): Promise<string> {
      const text = (part: string | object) =>
        typeof part === 'object' ? JSON.stringify(part) : part
      return this.signed(
        encode(text(header)),
        encode(payload instanceof Buffer ? payload : text(payload)),
      )
    },
  }
}
