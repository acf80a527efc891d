// A real OpenID provider (oidc-provider) on this machine, and a user who signs in to it with a
// browser's steps: the authorization code flow with PKCE.
import { createHash, randomBytes } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { Provider } from 'oidc-provider'

export const algorithms = ['RS256', 'ES256', 'EdDSA'] as const
type Algorithm = (typeof algorithms)[number]

export type OpenIdProvider = Awaited<ReturnType<typeof startOpenIdProvider>>

/** Nothing listens there: the last redirect is read, not followed. */
const redirectUri = 'http://127.0.0.1/signed-in'
const formType = { 'content-type': 'application/x-www-form-urlencoded' }

/** Each algorithm has a client of its own. Access tokens have the audience `bell`, ID tokens the id of the client. */
export async function startOpenIdProvider() {
  // The provider warns of everything that is only good for tests.
  console.warn = console.info = () => {}
  let listener: RequestListener = () => {}
  const server = createServer((request, response) => listener(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function rotateKeys(): Promise<void> {
    const keys = await Promise.all(algorithms.map(newPrivateKey))
    listener = new Provider(url, configurationWith(keys)).callback()
  }

  await rotateKeys()
  return {
    url,
    /** Publishes new keys for every algorithm and no earlier one, and ends every sign-in. */
    rotateKeys,
    signIn: (username: string, algorithm: Algorithm) => signIn(url, { username, algorithm }),
    async stop(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

export const clientOf = (algorithm: Algorithm) => `app-${algorithm}`

async function newPrivateKey(alg: Algorithm): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true })
  return { ...(await exportJWK(privateKey)), alg, use: 'sig' }
}

function configurationWith(keys: JWK[]): object {
  const inbox = (_: unknown, __: string, { clientId }: { clientId: string }) => ({
    scope: 'inbox',
    audience: 'bell',
    accessTokenFormat: 'jwt',
    accessTokenTTL: 600,
    jwt: { sign: { alg: algorithms.find((algorithm) => clientOf(algorithm) === clientId) } },
  })
  return {
    jwks: { keys },
    clients: algorithms.map((algorithm) => ({
      client_id: clientOf(algorithm),
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      id_token_signed_response_alg: algorithm,
    })),
    enabledJWA: { idTokenSigningAlgValues: algorithms },
    cookies: { keys: ['only for tests'] },
    features: {
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: inbox,
        useGrantedResource: () => true,
      },
    },
  }
}

type Tokens = { access_token: string; id_token: string }

async function signIn(
  url: string,
  of: { username: string; algorithm: Algorithm },
): Promise<Tokens> {
  const verifier = randomBytes(32).toString('base64url')
  const client = { client_id: clientOf(of.algorithm), redirect_uri: redirectUri }
  const query = new URLSearchParams({
    ...client,
    response_type: 'code',
    scope: 'openid inbox',
    resource: 'urn:bell',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const code = await codeFrom(`${url}/auth?${query}`, of.username)
  const grant = { ...client, grant_type: 'authorization_code', code, code_verifier: verifier }
  const body = new URLSearchParams(grant).toString()
  const response = await fetch(`${url}/token`, { method: 'POST', headers: formType, body })
  if (!response.ok) throw new Error(`the provider refused the code: ${await response.text()}`)
  return (await response.json()) as Tokens
}

async function codeFrom(start: string, username: string): Promise<string> {
  const back = await wayBack(start, { username, until: redirectUri })
  return new URL(back).searchParams.get('code') ?? ''
}

/**
 * Follows redirects and fills in forms until the provider redirects to an address that begins with
 * `until`. `isCancelled`: the user follows the link to cancel on the first page.
 */
export async function wayBack(
  start: string,
  {
    username,
    until,
    isCancelled = false,
  }: { username: string; until: string; isCancelled?: boolean },
): Promise<string> {
  const cookies = new Map<string, string>()
  const visit = async (address: string, form?: Record<string, string>) => {
    const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ')
    const post = form && { method: 'POST', body: new URLSearchParams(form).toString() }
    const response = await fetch(address, {
      ...post,
      redirect: 'manual',
      headers: { ...(form && formType), cookie },
    })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      cookies.set(name, value)
    }
    return response
  }
  let response = await visit(start)
  for (let steps = 0; steps < 20; steps++) {
    const location = response.headers.get('location')
    if (location?.startsWith(until)) return location
    const page = location === null ? await response.text() : ''
    const [, action = ''] = /action="([^"]+)"/.exec(page) ?? []
    const [, prompt = ''] = /name="prompt" value="([^"]+)"/.exec(page) ?? []
    if (isCancelled && location === null) {
      response = await visit(new URL(`${action}/abort`, start).href)
      continue
    }
    const login = prompt === 'login' ? { login: username, password: 'any' } : undefined
    response = await (location === null
      ? visit(new URL(action, start).href, { prompt, ...login })
      : visit(new URL(location, start).href))
  }
  throw new Error('the provider did not redirect back')
}
