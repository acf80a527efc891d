// How does a call become a request, with its proof, and an answer a value or an error? Everything that the client asks
// goes through here.
import { following, unlessAborted } from './cancellation.ts'
import { errorOf, isCarillonError, isRedirect, networkError, redirected, unreadable } from './errors.ts'

/**
 * How requests show who is calling: `'cookie'` lets the browser send its session, a function tells an access token. It is
 * asked when there is none yet and once more when the server refuses the one it gave, and once for all requests that wait.
 * What it throws, the calls throw; a TypeError, as fetch throws it, counts as `NETWORK`. One that does not answer is asked
 * again by the first call after 30 seconds.
 */
export type Auth = 'cookie' | (() => string | Promise<string>)

export type Connection = {
  /** Where Carillon answers, with the path before its routes if there is one. Default: the origin of the page. */
  baseUrl?: string | URL | undefined
  /** In place of the global one: for a cookie jar, a dispatcher, a test. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
}

/** What every call takes. */
export type CallOptions = {
  /** Ends the call, which then throws the signal's reason. */
  signal?: AbortSignal | undefined
}

export type Call = CallOptions & {
  /** Relative to the base. */
  path: string
  method?: 'GET' | 'POST' | 'PATCH'
  query?: Readonly<Record<string, string | number | undefined>>
  /** JSON. */
  body?: string
  headers?: Readonly<Record<string, string>>
  /** Anybody may: no token is asked for. */
  isOpen?: boolean
}

export class Requests {
  readonly base: URL
  readonly #auth: Auth
  readonly #fetch: NonNullable<Connection['fetch']>
  readonly #patienceMs: number
  #token: Promise<string> | undefined
  /** How long the question for the token is waited for, by `performance.now()`. */
  #askedUntil = 0

  /** Throws TypeError where `baseUrl` is no URL, or is missing where there is no page. */
  constructor(
    { baseUrl = '', fetch = (url, init) => globalThis.fetch(url, init) }: Connection,
    auth: Auth,
    patienceMs = 30_000,
  ) {
    this.base = new URL(String(baseUrl).replace(/\/*$/, '/'), globalThis.location?.href)
    this.#fetch = fetch
    this.#auth = auth
    this.#patienceMs = patienceMs
  }

  /** The body of a sign-in, which is one without an envelope. */
  signIn<Body>(call: Call): Promise<Body> {
    return this.#answer(call, (text) => {
      const body = JSON.parse(text)
      if (!body.User) throw new TypeError('A User was expected')
      return body
    })
  }

  /** What a success says under `data`. */
  data<Data>(call: Call): Promise<Data> {
    return this.#answer(call, (text) => {
      const { success, data } = JSON.parse(text)
      if (success !== true || data === undefined) throw new TypeError('A success with data was expected')
      return data
    })
  }

  /** For calls that are answered with 204. */
  nothing(call: Call): Promise<void> {
    return this.#answer(call, (_, { status }) => {
      if (status !== 204) throw new TypeError('204 was expected')
    })
  }

  /** The token that is known belongs to a sign-in that is over. */
  forget(): void {
    this.#token = undefined
  }

  /** A success whose body is still to come, for as long as `signal` lets it. Throws CarillonError for all else. */
  async open(call: Call & { signal: AbortSignal }): Promise<Response> {
    if (call.isOpen || this.#auth === 'cookie') return this.#send(call)
    const asked = this.#ask(this.#auth)
    const token = await unlessAborted(asked, call.signal)
    try {
      return await this.#send(call, token)
    } catch (error) {
      if (!isCarillonError(error) || error.status !== 401) throw error
      if (this.#token === asked) this.forget()
      const fresh = await unlessAborted(this.#ask(this.#auth), call.signal)
      if (fresh === token) throw error
      return this.#send(call, fresh)
    }
  }

  #answer<Result>(call: Call, read: (text: string, response: Response) => Result): Promise<Result> {
    return following(call.signal, async ({ signal }) => {
      const response = await this.open({ ...call, signal })
      const text = await textOf(response, signal)
      try {
        return read(text, response)
      } catch (cause) {
        throw unreadable(response, cause)
      }
    })
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
      // Carillon never redirects. Following one could carry the token, or the password, to another server.
      redirect: 'error',
      // Said for cookies alone: not every runtime knows the field.
      ...(this.#auth === 'cookie' && { credentials: 'include' }),
    }
    const response = await unlessCut(this.#fetch(url.href, init), signal)
    if (response.ok) return response
    throw errorOf(response, await textOf(response, signal))
  }

  /** One question, however many wait for its answer; one that failed is not kept, nor one that hangs. */
  #ask(ask: Exclude<Auth, 'cookie'>): Promise<string> {
    if (this.#token !== undefined && performance.now() < this.#askedUntil) return this.#token
    const asked = unlessCut((async () => ask())())
    this.#token = asked
    this.#askedUntil = performance.now() + this.#patienceMs
    asked.then(
      () => {
        if (this.#token === asked) this.#askedUntil = Number.POSITIVE_INFINITY
      },
      () => {
        if (this.#token === asked) this.forget()
      },
    )
    return asked
  }
}

/** Throws what is the caller's mistake here, where it passes for no cut; without the value, which may be a secret. */
function headersOf(fields: Record<string, string>): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(fields))
    try {
      headers.set(name, value)
    } catch {
      throw new TypeError(`The ${name} has characters that no header field takes`)
    }
  return headers
}

function textOf(response: Response, signal: AbortSignal | undefined): Promise<string> {
  return unlessCut(response.text(), signal)
}

/** Fetch knows one error for all that breaks on the way: TypeError. */
async function unlessCut<Result>(promise: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  try {
    return await promise
  } catch (error) {
    signal?.throwIfAborted()
    if (!(error instanceof TypeError)) throw error
    throw isRedirect(error) ? redirected(error) : networkError(error)
  }
}
