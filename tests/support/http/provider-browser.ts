// A browser with its own cookies goes through a service whose users sign in with a real provider.
import type { Log } from '../../../server/basics/log.ts'
import type { Environment } from '../../../server/config/values.ts'
import {
  clientId,
  clientSecret,
  type SignInProvider,
  startSignInProvider,
} from '../network/sign-in-provider.ts'
import { type HttpResponse, type Proof, startTestService, type TestService } from '../service.ts'

export type Visited = HttpResponse & { location: string }
type Send = (
  path: string,
  headers: Proof,
  init?: Pick<RequestInit, 'method' | 'body'>,
) => Promise<HttpResponse>

/** One entry under each name, with more members. */
export function providerSetting(
  { url: issuer }: SignInProvider,
  entries: Record<string, object>,
): Environment {
  const setting = Object.entries(entries).map(([name, members]) => {
    return { name, issuer, clientId, clientSecret, ...members }
  })
  return { CARILLON_PROVIDERS: JSON.stringify(setting) }
}

export async function startWithProvider(
  members: object,
  { env = {}, log, host }: { env?: Environment; log?: Log; host?: string } = {},
) {
  const provider = await startSignInProvider(host === undefined ? {} : { host })
  const settings = { ...providerSetting(provider, { staff: members }), ...env }
  const app = await startTestService({ env: settings, ...(log && { log }) })
  provider.addClient(app.url, 'staff')
  const send: Send = (path, headers, init) =>
    app.request(path, { redirect: 'manual', headers, ...init })
  return {
    app,
    provider,
    browser: () => new ProviderBrowser({ app, provider, send }),
    stop: () => Promise.all([app.stop(), provider.stop()]),
  }
}

export class ProviderBrowser {
  readonly jar = new Map<string, string>()
  readonly #app: TestService
  readonly #provider: SignInProvider
  readonly #send: Send

  constructor({ app, provider, send }: { app: TestService; provider: SignInProvider; send: Send }) {
    this.#app = app
    this.#provider = provider
    this.#send = send
  }

  get proof(): Proof {
    return this.jar.size === 0
      ? {}
      : { cookie: Array.from(this.jar, ([name, value]) => `${name}=${value}`).join('; ') }
  }

  /** Sign-ins that have begun set these cookies. */
  get begun(): string[] {
    return [...this.jar.keys()].filter((name) => name.includes('-with-'))
  }

  async send(
    address: string,
    headers: Proof = {},
    init: Parameters<Send>[2] = {},
  ): Promise<Visited> {
    const path = address.startsWith(this.#app.url) ? address.slice(this.#app.url.length) : address
    const response = await this.#send(path, { ...this.proof, ...headers }, init)
    this.keep(response)
    return { ...response, location: response.headers.get('location') ?? '' }
  }

  /** Does as the response says with its cookies. */
  keep({ headers }: Pick<HttpResponse, 'headers'>): void {
    for (const set of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (/Max-Age=0;/.test(set)) this.jar.delete(name)
      else this.jar.set(name, value)
    }
  }

  start(name: string, query = ''): Promise<Visited> {
    return this.send(`/login/with/${name}${query}`)
  }

  /** A browser sends the form of a page of `origin` so, by a top-level navigation. */
  startByForm(
    name: string,
    form: Record<string, string>,
    origin: string | undefined,
  ): Promise<Visited> {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      ...(origin !== undefined && { origin }),
    }
    const body = new URLSearchParams(form).toString()
    return this.send(`/login/with/${name}/start`, headers, { method: 'POST', body })
  }

  /** Signs in at the provider, and returns with the query that it gave. */
  async comeBack(location: string, username: string): Promise<Visited> {
    return this.send(await this.wayBack(location, username))
  }

  wayBack(location: string, username: string): Promise<string> {
    return this.#provider.signIn(location, username, `${this.#app.url}/login/with/`)
  }

  async signIn(name: string, username: string, query = ''): Promise<Visited> {
    const { status, location, text } = await this.start(name, query)
    if (status !== 302) throw new Error(`the sign-in got ${status}: ${text}`)
    return this.comeBack(location, username)
  }

  async code(name: string, username: string, query = '?variant=stateless'): Promise<string> {
    return codeIn(await this.signIn(name, username, query))
  }

  /** The form of a page began the sign-in. */
  async codeByForm(
    name: string,
    username: string,
    { form, origin }: { form: Record<string, string>; origin: string },
  ) {
    const { status, location, text } = await this.startByForm(name, form, origin)
    if (status !== 303) throw new Error(`the sign-in got ${status}: ${text}`)
    return codeIn(await this.comeBack(location, username))
  }
}

/** Reads the fields of the fragment. */
export function factsIn(location: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(location.split('#')[1]))
}

function codeIn({ location, text }: Visited): string {
  const { 'sign-in-code': code } = factsIn(location)
  if (code === undefined) throw new Error(`the sign-in gave no code: ${location} ${text}`)
  return code
}
