// Sends all requests of the client: adds the proof, and returns the data or throws an error.
import { abort, following, throwIfAborted, unlessAborted } from './cancellation.ts'
import {
  CarillonError,
  errorOf,
  isCarillonError,
  isUnauthorized,
  networkError,
  unreadable,
} from './errors.ts'
import { type TokenSource, Tokens } from './tokens.ts'
import type { Me } from './types.ts'

/**
 * The proof of requests. `'cookie'`: the browser sends its session. A function returns an access
 * token, or null if no user is signed in; the client calls it without a token, before one ends, and
 * after a refusal. All requests share one call.
 *
 * A throw, or another value, is `AUTH_FAILED`; the error of a renewal ends only that renewal. After
 * 30 seconds without a result, the next request calls it again.
 *
 * @example auth: ({ token }) => (token ? carillon.renew(token) : signIn())
 */
export type Auth = 'cookie' | TokenSource

export type Connection = {
  /**
   * The address of Carillon, with its path prefix. A relative one, such as `/bell/`, is an address
   * of the page. Default: the origin of the page.
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
  path: string
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** A list becomes one field for each entry. */
  query?: Readonly<Record<string, string | number | readonly string[] | undefined>>
  /** An object is sent as JSON, a text as it is. */
  body?: string | object
  headers?: Readonly<Record<string, string>>
  isOpen?: boolean
  timeoutMs?: number
}

const globalFetch: NonNullable<Connection['fetch']> = (url, init) => globalThis.fetch(url, init)

export class Requests {
  /** React Native cannot read a body while it arrives. The first response shows this. */
  canStream: boolean = 'body' in (globalThis.Response?.prototype ?? {})
  session: AbortController = new AbortController()
  readonly tokens: Tokens | undefined
  readonly #baseUrl: string
  readonly #fetch: NonNullable<Connection['fetch']>

  /** Throws TypeError if `baseUrl` is not a URL. */
  constructor(
    { baseUrl = '', fetch = globalFetch }: Connection,
    auth: Auth,
    tokenTimeoutMs = 30_000,
  ) {
    this.#baseUrl = String(baseUrl).replace(/\/{0,9}$/, '/')
    new URL(this.#baseUrl, 'http://page.invalid')
    this.#fetch = fetch
    this.tokens = auth === 'cookie' ? undefined : new Tokens(auth, tokenTimeoutMs)
  }

  /** Throws TypeError if `baseUrl` is relative and there is no page, as on a server. */
  get base(): URL {
    try {
      return new URL(this.#baseUrl, globalThis.location?.href)
    } catch (cause) {
      throw new TypeError(`"${this.#baseUrl}" is no absolute URL: correct baseUrl`, { cause })
    }
  }

  signOut(error: CarillonError): void {
    this.tokens?.forget()
    abort(this.session, error)
    this.session = new AbortController()
  }

  /** A sign-in has no envelope. */
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

  /** A browser reports a 401 as an error, so pages with a cookie use the route that sends none. */
  me(options?: Omit<Call, 'path'>): Promise<Me | null> {
    // A 401 tells the client that it needs another token.
    const path = this.tokens ? 'api/me' : 'api/session'
    return nullIfSignedOut(this.data<Me | null>({ ...options, path }))
  }

  /** Returns a response with an unread body; `signal` also aborts that reading. */
  async open(call: Call & { signal: AbortSignal }): Promise<Response> {
    const { tokens } = this
    if (call.isOpen) return this.#send(call)
    const token = tokens && (await unlessAborted(tokens.get(), call.signal))
    try {
      return await this.#send(call, token)
    } catch (error) {
      if (!isUnauthorized(error)) throw error
      // Another response, perhaps in another tab, may have replaced the cookie.
      if (!tokens || !token) return this.#send(call)
      tokens.refuse(token)
      const fresh = await unlessAborted(tokens.get(), call.signal)
      if (fresh === token) throw error
      return this.#send(call, fresh)
    }
  }

  /** `read` returns undefined, or throws, for a response that is not Carillon's. */
  #receive<Result>(
    call: Call,
    read: (text: string, response: Response) => Result | undefined,
  ): Promise<Result> {
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
    return following(
      [call.signal, call.isOpen ? undefined : this.session.signal],
      send,
      call.timeoutMs,
    )
  }

  async #send(
    { path, method = 'GET', query = {}, body, headers, signal }: Call,
    token?: string,
  ): Promise<Response> {
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
      // A redirect could send the token or password to another server. Not `error`, which Workers
      // lack.
      redirect: 'manual',
      // It arrives even if the page is left at once.
      keepalive: method !== 'GET' && body === undefined,
      // Not every runtime supports the field.
      ...(!this.tokens && { credentials: 'include' }),
    }
    const response = await asNetworkError(this.#fetch(url.href, init), { signal, url })
    this.canStream = response.body !== undefined
    if (isRedirect(response, url))
      throw new CarillonError('UNREADABLE', 'The server redirects: correct baseUrl')
    if (response.ok) return response
    throw errorOf(response, await asNetworkError(response.text(), { signal }))
  }
}

/** Browsers show only a redirect's type. React Native follows it, and names the last address. */
function isRedirect({ type, status, url }: Response, { origin }: URL): boolean {
  if (type?.startsWith('opaque') || (status >= 300 && status < 400 && status !== 304)) return true
  return Boolean(url) && !url.startsWith(`${origin}/`)
}

/** fetch reports all network failures as TypeError. */
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
      // The message leaves out the value, which may be a secret. A TypeError of `fetch` would count
      // as a network failure.
      throw new TypeError(`The ${name} contains characters that a header field cannot have`)
    }
  return headers
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Refuses without a request, because `..` or `counts` in a path is another route. */
export function idInPath(id: string, message: string): string {
  if (!uuid.test(id)) throw new CarillonError('NOT_FOUND', message, { status: 404 })
  return id
}

/** Refuses a text that cannot be a segment of a path. `what`: `a key`. */
export function nameInPath(name: string, what: string): string {
  if (['', '.', '..'].includes(name))
    throw new CarillonError('INVALID_REQUEST', `"${name}" cannot be ${what}`, { status: 400 })
  return encodeURIComponent(name)
}
