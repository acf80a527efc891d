// Sends every request of the client: adds the proof, reads the response, and returns its data or throws an error.
import { following, unlessAborted } from './cancellation.ts'
import { errorOf, isCarillonError, networkError, unreadable } from './errors.ts'

/**
 * The proof that requests carry. With `'cookie'` the browser sends its session cookie. A function returns an access token:
 * the client calls it when it has no token, and once more when the server refuses the token. All requests that wait for a
 * token share one call. An error of the function is thrown by the requests that wait; a TypeError, which is how `fetch`
 * reports a network failure, becomes `NETWORK`. If the function does not return within 30 seconds, the next request calls
 * it again.
 */
export type Auth = 'cookie' | (() => string | Promise<string>)

export type Connection = {
  /** The address of Carillon, including a path prefix if its routes have one. Default: the origin of the page. */
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
  method?: 'GET' | 'POST' | 'PATCH'
  query?: Readonly<Record<string, string | number | undefined>>
  /** JSON. */
  body?: string
  headers?: Readonly<Record<string, string>>
  /** The route needs no proof: the request carries no token. */
  isOpen?: boolean
  /** Without a complete response after this time, the call throws `NETWORK`. */
  timeoutMs?: number
}

export class Requests {
  readonly base: URL
  readonly #auth: Auth
  readonly #fetch: NonNullable<Connection['fetch']>
  readonly #tokenTimeoutMs: number
  #token: Promise<string> | undefined
  /** Until then, by `performance.now()`, requests share `#token`. Infinity after the function returned a token. */
  #tokenSharedUntil = 0

  /** Throws TypeError if `baseUrl` is not a URL, or if it is missing outside a page. */
  constructor(
    { baseUrl = '', fetch = (url, init) => globalThis.fetch(url, init) }: Connection,
    auth: Auth,
    tokenTimeoutMs = 30_000,
  ) {
    this.base = new URL(String(baseUrl).replace(/\/*$/, '/'), globalThis.location?.href)
    this.#fetch = fetch
    this.#auth = auth
    this.#tokenTimeoutMs = tokenTimeoutMs
  }

  /** The body of a sign-in. Unlike other responses, it has no envelope. */
  signIn<Body>(call: Call): Promise<Body> {
    return this.#receive({ ...call, method: 'POST', isOpen: true }, (text) => {
      const body = JSON.parse(text)
      if (!body.User) throw new TypeError('Expected a User')
      return body
    })
  }

  data<Data>(call: Call): Promise<Data> {
    return this.#receive(call, (text) => {
      const { success, data } = JSON.parse(text)
      if (success !== true || data === undefined) throw new TypeError('Expected a success with data')
      return data
    })
  }

  nothing(call: Call): Promise<void> {
    return this.#receive(call, (_, { status }) => {
      if (status !== 204) throw new TypeError('Expected status 204')
    })
  }

  /** Drops the token: the server refused it, or its sign-in has ended. */
  forgetToken(): void {
    this.#token = undefined
  }

  /** A successful response whose body is not read yet; `signal` also aborts that reading. Throws for every other response. */
  async open(call: Call & { signal: AbortSignal }): Promise<Response> {
    if (call.isOpen || this.#auth === 'cookie') return this.#send(call)
    const pending = this.#tokenFrom(this.#auth)
    const token = await unlessAborted(pending, call.signal)
    try {
      return await this.#send(call, token)
    } catch (error) {
      if (!isCarillonError(error) || error.status !== 401) throw error
      if (this.#token === pending) this.forgetToken()
      const fresh = await unlessAborted(this.#tokenFrom(this.#auth), call.signal)
      if (fresh === token) throw error
      return this.#send(call, fresh)
    }
  }

  #receive<Result>(call: Call, read: (text: string, response: Response) => Result): Promise<Result> {
    const send = async ({ signal }: AbortController) => {
      const response = await this.open({ ...call, signal })
      const text = await asNetworkError(response.text(), signal)
      try {
        return read(text, response)
      } catch (cause) {
        throw unreadable(response, cause)
      }
    }
    return following(call.signal, send, call.timeoutMs)
  }

  async #send({ path, method = 'GET', query = {}, body, headers, signal }: Call, token?: string): Promise<Response> {
    const url = new URL(path, this.base)
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value))
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
      // Set for cookies only: not every runtime supports the field.
      ...(this.#auth === 'cookie' && { credentials: 'include' }),
    }
    const response = await asNetworkError(this.#fetch(url.href, init), signal)
    if (response.ok) return response
    throw errorOf(response, await asNetworkError(response.text(), signal))
  }

  /** One call of `auth` for all requests that wait. A token that failed or did not come in time is not kept. */
  #tokenFrom(auth: Exclude<Auth, 'cookie'>): Promise<string> {
    if (this.#token !== undefined && performance.now() < this.#tokenSharedUntil) return this.#token
    const pending = asNetworkError((async () => auth())())
    this.#token = pending
    this.#tokenSharedUntil = performance.now() + this.#tokenTimeoutMs
    const shareUntil = (time: number) => {
      if (this.#token === pending) this.#tokenSharedUntil = time
    }
    pending.then(
      () => shareUntil(Number.POSITIVE_INFINITY),
      () => shareUntil(0),
    )
    return pending
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

/** Replaces a TypeError, which is how fetch reports every failure of the network, by a CarillonError. */
async function asNetworkError<Result>(promise: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  try {
    return await promise
  } catch (error) {
    signal?.throwIfAborted()
    throw error instanceof TypeError ? networkError(error) : error
  }
}
