// Sends every request of the client: adds the proof, reads the response, and returns its data or throws an error.
import { abort, following, throwIfAborted, unlessAborted } from './cancellation.ts'
import { CarillonError, errorOf, isCarillonError, isUnauthorized, networkError, unreadable } from './errors.ts'
import { type TokenSource, Tokens } from './tokens.ts'
import type { Me } from './types.ts'

/**
 * The proof that requests carry. With `'cookie'` the browser sends its session cookie. A function returns an access token: it is
 * called if there is none, before it ends, and after a refusal, with the reason and the token to renew. This is enough for any
 * number of lifetimes: `auth: ({ token }) => (token ? carillon.renew(token) : signIn())`. The client reads the end of a JSON Web
 * Token; it replaces any other one only after a refusal. A live stream renews it when it is due, other requests when they are sent.
 *
 * Null: no user is signed in, and requests throw UNAUTHORIZED, unsent. Anything else that is no token is `AUTH_FAILED`, with one warning in
 * the console. Requests that wait share one call, and throw its error, as the `cause` of `AUTH_FAILED`, or of `NETWORK` if `fetch` threw it
 * for lack of a connection; a CarillonError as it is. An error of a renewal only ends that renewal. After 30 seconds, the next request calls it again.
 */
export type Auth = 'cookie' | TokenSource

export type Connection = {
  /**
   * The address of Carillon, including a path prefix if its routes have one. Default: the origin of the page. A relative
   * one, such as `/bell/`, is an address of the page; the first call throws TypeError if there is no page.
   */
  baseUrl?: string | URL | undefined
  /** Replaces the global `fetch`: for a cookie jar, a dispatcher or a test. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
}

export type CallOptions = {
  /** Aborts the call, which then throws the reason of the signal. */
  signal?: AbortSignal | undefined
}

export type Call = CallOptions & {
  /** Relative to `baseUrl`. */
  path: string
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** A list is sent as one field for each entry. */
  query?: Readonly<Record<string, string | number | readonly string[] | undefined>>
  /** An object is sent as JSON; a text is JSON already. */
  body?: string | object
  headers?: Readonly<Record<string, string>>
  /** The route needs no proof: the request carries no token. */
  isOpen?: boolean
  /** Without a complete response after this time, the call throws `NETWORK`. */
  timeoutMs?: number
}

const globalFetch: NonNullable<Connection['fetch']> = (url, init) => globalThis.fetch(url, init)

export class Requests {
  /**
   * Whether a body can be read while it arrives. In React Native it cannot, and the response to a request for a stream never comes. Every
   * response shows it; before the first one, the `Response` of the runtime.
   */
  canStream: boolean = 'body' in (globalThis.Response?.prototype ?? {})
  /** Aborts at the next `signOut`, with its error. */
  session: AbortController = new AbortController()
  /** Undefined if the proof is a cookie. */
  readonly tokens: Tokens | undefined
  readonly #baseUrl: string
  readonly #fetch: NonNullable<Connection['fetch']>

  /** Throws TypeError if `baseUrl` is not a URL. */
  constructor({ baseUrl = '', fetch = globalFetch }: Connection, auth: Auth, tokenTimeoutMs = 30_000) {
    this.#baseUrl = String(baseUrl).replace(/\/{0,9}$/, '/')
    new URL(this.#baseUrl, 'http://page.invalid')
    this.#fetch = fetch
    this.tokens = auth === 'cookie' ? undefined : new Tokens(auth, tokenTimeoutMs)
  }

  /** Throws TypeError if `baseUrl` is relative and there is no page, as during server-side rendering. */
  get base(): URL {
    try {
      return new URL(this.#baseUrl, globalThis.location?.href)
    } catch (cause) {
      throw new TypeError(`"${this.#baseUrl}" is no absolute URL: correct baseUrl`, { cause })
    }
  }

  /** Forgets the token, and ends every call that carries a proof. */
  signOut(error: CarillonError): void {
    this.tokens?.forget()
    abort(this.session, error)
    this.session = new AbortController()
  }

  /** The body of a sign-in, or of the options of a passkey. Unlike other responses, it has no envelope. */
  signIn<Body>(call: Call): Promise<Body> {
    return this.#receive({ ...call, method: 'POST', isOpen: true }, (text) => {
      const body = JSON.parse(text)
      return (body.User || body.challenge) && body
    })
  }

  data<Data>(call: Call): Promise<Data> {
    return this.#receive(call, (text) => {
      const { success, data } = JSON.parse(text)
      return success === true ? data : undefined
    })
  }

  async nothing(call: Call): Promise<void> {
    await this.#receive(call, (_, { status }) => status === 204 || undefined)
  }

  /** Null if no user is signed in. A browser displays a 401 as an error of the page, so a page with a cookie uses the route that has none. */
  me(options?: Omit<Call, 'path'>): Promise<Me | null> {
    // With a token, a 401 is how the client learns that it needs another one.
    const path = this.tokens ? 'api/me' : 'api/session'
    return nullIfSignedOut(this.data<Me | null>({ ...options, path }))
  }

  /** A successful response whose body is not read yet; `signal` also aborts that reading. Throws for every other response. */
  async open(call: Call & { signal: AbortSignal }): Promise<Response> {
    const { tokens } = this
    if (call.isOpen) return this.#send(call)
    const token = tokens && (await unlessAborted(tokens.get(), call.signal))
    try {
      return await this.#send(call, token)
    } catch (error) {
      if (!isUnauthorized(error)) throw error
      // The response to another request, also of another tab, may have replaced the cookie. A refused request had no effect.
      if (!tokens || !token) return this.#send(call)
      tokens.refuse(token)
      const fresh = await unlessAborted(tokens.get(), call.signal)
      if (fresh === token) throw error
      return this.#send(call, fresh)
    }
  }

  /** `read` returns undefined, or throws, if the response is not from Carillon. */
  #receive<Result>(call: Call, read: (text: string, response: Response) => Result | undefined): Promise<Result> {
    const send = async ({ signal }: AbortController) => {
      const response = await this.open({ ...call, signal })
      const text = await asNetworkError(response.text(), { signal })
      let cause: unknown
      try {
        const result = read(text, response)
        if (result !== undefined) return result
      } catch (error) {
        cause = error
      }
      throw unreadable(response, cause)
    }
    return following([call.signal, call.isOpen ? undefined : this.session.signal], send, call.timeoutMs)
  }

  async #send({ path, method = 'GET', query = {}, body, headers, signal }: Call, token?: string): Promise<Response> {
    const url = new URL(path, this.base)
    for (const [name, value] of Object.entries(query))
      for (const one of [value ?? []].flat()) url.searchParams.append(name, String(one))
    const init: RequestInit = {
      method,
      body: typeof body === 'object' ? JSON.stringify(body) : (body ?? null),
      signal: signal as AbortSignal,
      headers: headersOf({
        ...headers,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      }),
      // Carillon never redirects these. A followed redirect could send the token or the password to another server. Not `error`, which
      // Workers do not have.
      redirect: 'manual',
      // An act without a body arrives even if the page is left at once, such as for the link of a notification.
      keepalive: method !== 'GET' && body === undefined,
      // Set for cookies only: not every runtime supports the field.
      ...(!this.tokens && { credentials: 'include' }),
    }
    const response = await asNetworkError(this.#fetch(url.href, init), { signal, url })
    this.canStream = response.body !== undefined
    if (isRedirect(response, url)) throw new CarillonError('UNREADABLE', 'The server redirects: correct baseUrl')
    if (response.ok) return response
    throw errorOf(response, await asNetworkError(response.text(), { signal }))
  }
}

/** A browser shows nothing but the type of a redirect. React Native follows it all the same, and names only the last address. */
function isRedirect({ type, status, url }: Response, { origin }: URL): boolean {
  if (type?.startsWith('opaque') || (status >= 300 && status < 400 && status !== 304)) return true
  return Boolean(url) && !url.startsWith(`${origin}/`)
}

/** Replaces a TypeError, which is how fetch reports every failure of the network, by a CarillonError. */
async function asNetworkError<Result>(
  promise: Promise<Result>,
  { signal, url }: CallOptions & { url?: URL },
): Promise<Result> {
  try {
    return await promise
  } catch (error) {
    throwIfAborted(signal)
    throw error instanceof TypeError ? networkError(error, url) : error
  }
}

export function nullIfSignedOut<Result>(call: Promise<Result>): Promise<Result | null> {
  return call.catch((error) => {
    if (isCarillonError(error, 'UNAUTHORIZED')) return null
    throw error
  })
}

function headersOf(fields: Record<string, string>): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(fields))
    try {
      headers.set(name, value)
    } catch {
      // Before `fetch`, whose TypeError would count as a network failure, and without the value, which may be a secret.
      throw new TypeError(`The ${name} contains characters that a header field cannot have`)
    }
  return headers
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Throws NOT_FOUND if `id` is not a UUID, without a request: as part of a path, `..` or `counts` is another route. */
export function idInPath(id: string, message: string): string {
  if (!uuid.test(id)) throw new CarillonError('NOT_FOUND', message, { status: 404 })
  return id
}

/** Throws INVALID_REQUEST for a text that cannot be a segment of a path, without a request: `..` is another route. `what`: `a key`. */
export function nameInPath(name: string, what: string): string {
  if (['', '.', '..'].includes(name))
    throw new CarillonError('INVALID_REQUEST', `"${name}" cannot be ${what}`, { status: 400 })
  return encodeURIComponent(name)
}
