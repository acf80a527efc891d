// A real OpenID provider (oidc-provider) that can be made to lie: a test can change any response,
// and have any ID token signed with the real keys.
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type CryptoKey,
  decodeJwt,
  exportJWK,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
} from 'jose'
import { Provider } from 'oidc-provider'
import { wholeText } from '../http/whole-text.ts'
import { wayBack } from './openid-provider.ts'

export const clientSecret = 'lantern-sparrow-of-the-client-secret'
export const clientId = 'bell'

/** `honest` sends the request on and returns the real response. */
type Lie = (exchange: {
  request: IncomingMessage
  response: ServerResponse
  honest: () => Promise<{ status: number; body: Record<string, unknown> }>
}) => unknown

export type SignInProvider = Awaited<ReturnType<typeof startSignInProvider>>
type Tokens = { id_token: string; access_token: string }

/** With the host `localhost`, it is another site than a service at 127.0.0.1. */
export async function startSignInProvider({ host = '127.0.0.1' }: { host?: string } = {}) {
  // The provider warns of everything that is only good for tests.
  console.warn = console.info = () => {}
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const keys = [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'real' }]
  const lies = new Map<string, Lie>()
  const requested: string[] = []
  const clients: Record<string, unknown>[] = []
  /** By username; a user without an entry has no claims but `sub`. */
  const claims = new Map<string, Record<string, unknown>>()
  let listener: RequestListener = () => {}
  const inner = await listening((request, response) => listener(request, response))
  const outer = await listening((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    requested.push(pathname)
    const lie = lies.get(pathname)
    if (lie === undefined) listener(request, response)
    else void lie({ request, response, honest: () => forward(inner.url, request) })
  })
  const url = outer.url.replace('127.0.0.1', host)

  function serve(): void {
    listener = new Provider(url, {
      jwks: { keys },
      clients,
      cookies: { keys: ['only for tests'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'locale'] },
      findAccount: (_: unknown, sub: string) => ({
        accountId: sub,
        claims: () => ({ sub, ...claims.get(sub) }),
      }),
      features: { devInteractions: { enabled: true } },
    }).callback()
  }
  serve()

  return {
    url,
    clientId,
    claims,
    lies,
    requested,
    privateKey,

    /**
     * The service at `serviceUrl` then signs users in under `name`. Ends every sign-in at the
     * provider.
     */
    addClient(serviceUrl: string, name: string, more: Record<string, unknown> = {}): void {
      clients.splice(0, clients.length, {
        client_id: clientId,
        client_secret: clientSecret,
        application_type: 'native',
        redirect_uris: [`${serviceUrl}/login/with/${name}/callback`],
        grant_types: ['authorization_code'],
        response_types: ['code'],
        ...more,
      })
      serve()
    },

    /** Returns the address to which the provider sends the browser back. */
    signIn: (start: string, username: string, until: string) => wayBack(start, { username, until }),
    cancel: (start: string, until: string) =>
      wayBack(start, { username: 'any', until, isCancelled: true }),

    /** The token endpoint sends an ID token with these claims changed (undefined removes one), signed with the real key or another. */
    lieAboutIdToken(
      changed: JWTPayload,
      { key = privateKey, header = {} }: { key?: CryptoKey; header?: object } = {},
    ) {
      lies.set('/token', async ({ response, honest }) => {
        const { status, body } = await honest()
        const tokens = body as Tokens
        const payload = JSON.parse(JSON.stringify({ ...decodeJwt(tokens.id_token), ...changed }))
        const token = new SignJWT(payload).setProtectedHeader({
          alg: 'RS256',
          kid: 'real',
          ...header,
        })
        sendJson(response, status, { ...tokens, id_token: await token.sign(key) })
      })
    },

    async stop(): Promise<void> {
      await Promise.all([inner, outer].map((one) => one.stop()))
    },
  }
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function listening(listener: RequestListener) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/**
 * The provider makes the addresses of its endpoints from the client's `Host`, so all fields are
 * sent on.
 */
function forward(
  url: string,
  request: IncomingMessage,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const { method, headers } = request
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(url + request.url, { method, headers }, async (response) => {
      const body = JSON.parse(await wholeText(response))
      resolve({ status: response.statusCode ?? 0, body })
    })
    outgoing.on('error', reject)
    request.pipe(outgoing)
  })
}
