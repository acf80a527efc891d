// The access token of all requests. Calls `auth` once for all, before the token ends or after a
// refusal.
import { pause, unlessAborted } from './cancellation.ts'
import { CarillonError, isCarillonError, signedOut } from './errors.ts'

/**
 * `first`: there is no token. `expiring`: it ends in 30 seconds, or in a tenth of its lifetime.
 * `refused`: by the server.
 */
export type TokenReason = 'first' | 'expiring' | 'refused'
/** `token`: the one to renew, with the reason `expiring`. */
export type TokenRequest = { reason: TokenReason; token?: string | undefined }
/** A token, or a response that has it as `token`. Null: no user is signed in. */
export type TokenResult = string | { token: string | null } | null
export type TokenSource = (request: TokenRequest) => TokenResult | Promise<TokenResult>

/** `token` is empty without a user. Times by `performance.now()`; infinite if it has no end. */
type Held = { token: string; exp: number; renewAt: number; endsAt: number }

const maxLeadMs = 30_000
/** A failed renewal is repeated after half of the remaining time, but not sooner than this. */
const minRetryMs = 1_000
export const maxTimerMs = 2 ** 31 - 1

export class Tokens {
  readonly #auth: TokenSource
  readonly #timeoutMs: number
  #held: Held | undefined
  #pending: Promise<string> | undefined
  #pendingUntil = 0
  #wasRefused = false
  #hasWarned = false
  onToken = () => {}

  constructor(auth: TokenSource, timeoutMs: number) {
    this.#auth = auth
    this.#timeoutMs = timeoutMs
  }

  /** Returns the present token after a failed renewal. Throws UNAUTHORIZED without one. */
  async get(): Promise<string> {
    const now = performance.now()
    if (this.#pending && now < this.#pendingUntil) return this.#pending
    const held = this.#held
    if (!held?.token)
      return this.#request({ reason: this.#wasRefused ? 'refused' : 'first', token: undefined })
    // Only the server knows the time, so an ended token is sent, too.
    if (now < held.renewAt || now >= held.endsAt) return held.token
    return this.#request({ reason: 'expiring', token: held.token }, held)
  }

  refuse(token: string): void {
    if (this.#held?.token !== token) return
    this.#held = undefined
    this.#wasRefused = true
  }

  forget(): void {
    this.#held = undefined
    this.#pending = undefined
  }

  /** Resolves when another token has replaced it. */
  async replaced(signal: AbortSignal): Promise<void> {
    const held = this.#held
    while (held && this.#held === held) {
      const now = performance.now()
      const ms = now < held.endsAt ? held.renewAt - now : maxTimerMs
      await pause(Math.min(Math.max(ms, 0), maxTimerMs), signal)
      await unlessAborted(this.get(), signal)
    }
  }

  #request(request: TokenRequest, renewed?: Held): Promise<string> {
    const isCurrent = () => this.#pending === pending
    const pending = this.#called(request, renewed, isCurrent).finally(() => {
      if (isCurrent()) this.#pending = undefined
    })
    this.#pending = pending
    this.#pendingUntil = performance.now() + this.#timeoutMs
    return pending
  }

  async #called(
    request: TokenRequest,
    renewed: Held | undefined,
    isCurrent: () => boolean,
  ): Promise<string> {
    try {
      const token = this.#tokenIn(await this.#auth(request))
      if (isCurrent()) this.#keep(token, renewed)
      if (token) return token
    } catch (error) {
      if (!renewed) throw failureOf(error)
      if (this.#held !== renewed) {
        if (isCurrent()) this.#pending = undefined
        return this.get()
      }
      const remainingMs = renewed.endsAt - performance.now()
      renewed.renewAt =
        remainingMs > 2 * minRetryMs ? renewed.endsAt - remainingMs / 2 : Number.POSITIVE_INFINITY
      return renewed.token
    }
    throw signedOut()
  }

  /** Neither the error nor the single warning contains the token. */
  #tokenIn(result: TokenResult): string {
    const token = result && typeof result === 'object' ? result.token : result
    if (token === null) return ''
    const text = typeof token === 'string' ? token.trim() : ''
    if (text && !/[^!-~]/.test(text)) return text
    if (!this.#hasWarned)
      console.warn(`Carillon: auth returned ${shapeOf(result)}, which is neither null nor a token`)
    this.#hasWarned = true
    throw new TypeError('The token or key is invalid')
  }

  #keep(token: string, renewed: Held | undefined): void {
    this.#wasRefused = false
    const held = heldOf(token)
    // No token outlives its sign-in, so there is a last one.
    if (renewed && this.#held === renewed && held.exp <= renewed.exp)
      renewed.renewAt = Number.POSITIVE_INFINITY
    else this.#held = held
    if (token) this.onToken()
  }
}

/** Describes a value, perhaps a secret, without naming it. */
function shapeOf(result: unknown): string {
  if (result === '') return 'an empty text'
  if (typeof result === 'string')
    return 'a text with a blank or another character that no token has'
  if (!result || typeof result !== 'object') return typeof result
  const { token } = result as { token?: unknown }
  if (token !== undefined) return `an object whose token is ${shapeOf(token)}`
  return `an object without a token; its members: ${Object.keys(result)}`
}

/** Browsers word network failures differently. Any other TypeError is a defect of `auth`. */
function failureOf(cause: unknown): CarillonError {
  if (isCarillonError(cause)) return cause
  const isNetwork =
    cause instanceof TypeError && /network|fetch failed|to fetch|load failed/i.test(cause.message)
  return new CarillonError(isNetwork ? 'NETWORK' : 'AUTH_FAILED', 'auth failed', { cause })
}

/** RFC 7519, section 4.1. */
function heldOf(token: string): Held {
  const { exp, iat } = claimsOf(token)
  const remainingMs = exp * 1_000 - Date.now()
  const lifetimeMs = Number.isFinite(iat) ? (exp - iat) * 1_000 : remainingMs
  if (!(lifetimeMs > 0))
    return { token, exp, renewAt: Number.POSITIVE_INFINITY, endsAt: Number.POSITIVE_INFINITY }
  const leadMs = Math.min(maxLeadMs, lifetimeMs / 10)
  // Otherwise this machine's clock is wrong: the token counts as new.
  const isPlausible = remainingMs > leadMs && remainingMs <= lifetimeMs
  const endsAt = performance.now() + (isPlausible ? remainingMs : lifetimeMs)
  return { token, exp, renewAt: endsAt - leadMs, endsAt }
}

/** Seconds since 1970; NaN for a missing claim. */
function claimsOf(token: string): { exp: number; iat: number } {
  try {
    const { exp, iat } = JSON.parse(
      atob(token.split('.')[1]?.replaceAll('-', '+').replaceAll('_', '/') ?? ''),
    )
    return { exp: Number(exp), iat: Number(iat) }
  } catch {
    return { exp: Number.NaN, iat: Number.NaN }
  }
}
