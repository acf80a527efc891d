// An issuer of tokens on this machine, with keys of every algorithm. It counts its requests, and
// can lie about its keys, redirect, stall, or send too much.
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  SignJWT,
} from 'jose'

export type Algorithm = 'RS256' | 'ES256' | 'EdDSA'
export type IssuerKey = { alg: Algorithm; kid: string; privateKey: CryptoKey; jwk: JWK }

export type TestIssuer = Awaited<ReturnType<typeof startIssuer>>

const jwksPath = '/keys'
const discoveryPath = '/.well-known/openid-configuration'

export async function newKey(alg: Algorithm, kid: string): Promise<IssuerKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

/** `now` is the clock of its tokens, in milliseconds. */
export async function startIssuer(now: () => number) {
  const keys = await Promise.all([
    newKey('RS256', 'r1'),
    newKey('ES256', 'e1'),
    newKey('EdDSA', 'd1'),
  ])
  /** These replace the usual response of a path. */
  const responses = new Map<string, RequestListener>()
  const requested: string[] = []
  const server = createServer((request, response) => {
    const { url: path = '' } = request
    requested.push(path)
    const special = responses.get(path)
    if (special !== undefined) return special(request, response)
    const body =
      path === jwksPath
        ? { keys: keys.map(({ jwk }) => jwk) }
        : { issuer: url, jwks_uri: url + jwksPath }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`

  return {
    url,
    jwks: url + jwksPath,
    keys,
    responses,
    requested,
    jwksPath,
    discoveryPath,

    claims(claims: JWTPayload = {}): JWTPayload {
      const seconds = Math.floor(now() / 1000)
      return { iss: url, aud: 'bell', sub: 'ann', iat: seconds, exp: seconds + 300, ...claims }
    },

    token(
      claims: JWTPayload = {},
      { key = keys[0] as IssuerKey, header = {} }: { key?: IssuerKey; header?: object } = {},
    ) {
      const { alg, kid, privateKey } = key
      return new SignJWT(this.claims(claims))
        .setProtectedHeader({ alg, kid, typ: 'JWT', ...header })
        .sign(privateKey)
    },

    /** Sends the same JSON from now on. */
    sends(path: string, body: unknown): void {
      responses.set(path, (_request, response) => response.end(JSON.stringify(body)))
    },

    /** Ends what it still sends, so that no request reaches it. */
    async stop(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
