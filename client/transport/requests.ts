// Sends every request of the client: adds the proof, reads the response, and returns its data or throws an error.
import { following, unlessAborted } from './cancellation.ts'
import { asNetworkError, type CarillonError, errorOf, isCarillonError, isUnauthorized, unreadable } from './errors.ts'
import { type TokenSource, Tokens } from './tokens.ts'

/**
 * The proof that requests carry. With `'cookie'` the browser sends its session cookie. A function returns an access token:
 * the client calls it when it has no token, before the token ends, and after the server refused the token. It gets the
 * reason, and the token to renew if there is one. So this is enough for any number of token lifetimes:
 * `auth: ({ token }) => (token ? carillon.renew(token) : signIn())`. The client reads the end of a token from the token, a
 * JSON Web Token; it replaces any other token only after a refusal. A live stream renews the token when it is due, other
 * requests when they are sent.
 *
 * If the function returns null, or nothing that contains a token, no user is signed in: the request is not sent, and throws
 * UNAUTHORIZED. All requests that wait for a token share one call. An error of the function is thrown by the requests that wait,
 * as the `cause` of `AUTH_FAILED`, or of `NETWORK` if `fetch` threw it for lack of a connection; a CarillonError is thrown as it
 * is. But an error of a renewal only ends that renewal. If the function does not return within 30 seconds, the next request
 * calls it again.
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
  body?: string
  headers?: Readonly<Record<string, string>>
  /** The route needs no proof: the request carries no token. */
  isOpen?: boolean
  /** Without a complete response after this time, the call throws `NETWORK`. */
  timeoutMs?: number
}

export class Requests {
  /** Aborts at the next `signOut`, with its error. */
  session: AbortController = new AbortController()
  /** Undefined if the proof is a cookie. */
  readonly tokens: Tokens | undefined
  readonly #baseUrl: string
  readonly #fetch: NonNullable<Connection['fetch']>

  /** Throws TypeError if `baseUrl` is not a URL. */
  constructor(
    { baseUrl = '', fetch = (url, init) => globalThis.fetch(url, init) }: Connection,
    auth: Auth,
    tokenTimeoutMs = 30_000,
  ) {
    this.#baseUrl = String(baseUrl).replace(/\/*$/, '/')
    new URL(this.#baseUrl, 'http://page.invalid')
    this.#fetch = fetch
    this.tokens = auth === 'cookie' ? undefined : new Tokens(auth, tokenTimeoutMs)
  }

  /** Throws TypeError if `baseUrl` is relative and there is no page, as during server-side rendering. */
  get base(): URL {
    try {
      return new URL(this.#baseUrl, globalThis.location?.href)
    } catch (cause) {
      const message = `"${this.#baseUrl}" is no absolute URL: correct baseUrl`
      throw new TypeError(message, { cause })
    }
  }

  /** Forgets the token, and ends every call that carries a proof. */
  signOut(error: CarillonError): void {
    this.tokens?.forget()
    this.session.abort(error)
    this.session = new AbortController()
  }

  /** The body of a sign-in. Unlike other responses, it has no envelope. */
  signIn<Body>(call: Call): Promise<Body> {
    return this.#receive({ ...call, method: 'POST', isOpen: true }, (text) => {
      const body = JSON.parse(text)
      return body.User && body
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

  /** A successful response whose body is not read yet; `signal` also aborts that reading. Throws for every other response. */
  async open(call: Call & { signal: AbortSignal }): Promise<Response> {
    const { tokens } = this
    if (call.isOpen) return this.#send(call)
    if (!tokens) return this.#sendTwice(call)
    const token = await unlessAborted(tokens.get(), call.signal)
    try {
      return await this.#send(call, token)
    } catch (error) {
      if (!isUnauthorized(error)) throw error
      tokens.refuse(token)
      const fresh = await unlessAborted(tokens.get(), call.signal)
      if (fresh === token) throw error
      return this.#send(call, fresh)
    }
  }

  /** The cookie of a request that was refused may have been replaced by the response to another one, also in another tab. */
  async #sendTwice(call: Call): Promise<Response> {
    try {
      return await this.#send(call)
    } catch (error) {
      if (!isCarillonError(error, 'UNAUTHORIZED', 'Unauthorized')) throw error
      return this.#send(call)
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
      body: body ?? null,
      signal: signal as AbortSignal,
      headers: headersOf({
        ...headers,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      }),
      // Carillon never redirects. A followed redirect could send the token or the password to another server.
      redirect: 'error',
      // An act without a body arrives even if the page is left at once, such as for the link of a notification.
      keepalive: method !== 'GET' && body === undefined,
      // Set for cookies only: not every runtime supports the field.
      ...(!this.tokens && { credentials: 'include' }),
    }
    const response = await asNetworkError(this.#fetch(url.href, init), { signal, url })
    if (response.ok) return response
    throw errorOf(response, await asNetworkError(response.text(), { signal }))
  }
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
