// A rotation refuses no token (decision 0044). Every node refuses a dropped key at once.
import type { KeyObject } from 'node:crypto'
import type { JWK } from 'jose'
import { auditEntry, type Source, serviceSource } from '../audit/entry.ts'
import { iso } from '../basics/clock.ts'
import { conflict, unavailable } from '../basics/errors.ts'
import type { Sealing, Secrets } from '../basics/secrets.ts'
import { reloader } from '../store/reloads.ts'
import type { Store } from '../store/store.ts'
import {
  makeSigningKey,
  openPrivate,
  openPublic,
  type PrivateKey,
  sealedWithAnother,
  sealingOf,
} from './key-material.ts'
import { lastOf, nextKeyOf, reloadEveryMs, scheduleOf } from './key-schedule.ts'
import { sealingSecrets } from './sealing-secret.ts'
import {
  addSigningKey,
  retireSigningKeys,
  type SigningKey,
  signingKeys,
} from './signing-keys.store.ts'

type Dependencies = {
  store: Store
  sealing: Sealing
  now: () => number
  lifetimeMs: number
  onFailure: (error: unknown) => void
}

type Accepted = ReturnType<typeof openPublic> & { until: number | null }
type Signer = PrivateKey & { startsAt: number; secret: keyof Secrets; sealedPrivateJwk: string }

/** A SHA-256 thumbprint (RFC 7638). */
const kidShape = /^[\w-]{43}$/
const learnEveryMs = 1_000
const retryMs = 60_000

export class SigningKeys {
  readonly #dependencies: Dependencies
  #accepted = new Map<string, Accepted>()
  #signers: Signer[] = []
  #nextAt = Number.POSITIVE_INFINITY
  #reads = 0
  #applied = 0
  #unopened = ''
  #learning: Promise<void> | undefined
  #learnedAt = Number.NEGATIVE_INFINITY
  readonly #droppedListeners = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined

  private constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Throws UNAVAILABLE if another secret sealed the keys. */
  static async open(dependencies: Dependencies): Promise<SigningKeys> {
    const { store, now, onFailure } = dependencies
    const keys = new SigningKeys(dependencies)
    if ((await store.read(signingKeys)).length === 0) {
      const at = now()
      // Another node may be faster.
      await publishKey(dependencies, { at, startsAt: at, after: null })
    }
    await keys.#reload()
    if (keys.#signers.length === 0) throw sealedWithAnother()
    const reloadSoon = reloader(() => keys.#reload(), onFailure)
    store.onChange(reloadSoon, ['signing-key'])
    keys.#timer = setInterval(reloadSoon, reloadEveryMs).unref()
    return keys
  }

  end(): void {
    clearInterval(this.#timer)
  }

  get current(): PrivateKey {
    const now = this.#dependencies.now()
    if (now >= this.#nextAt) this.#tendSoon(now)
    const signer = this.#signers.findLast(({ startsAt }) => startsAt <= now) ?? this.#signers[0]
    if (signer === undefined) throw unavailable('This node has no key to sign tokens with')
    return signer
  }

  get signingSince(): number {
    return (this.current as Signer).startsAt
  }

  /** Undefined if retired. Nothing else that a token says about keys is used. */
  find(kid: string): KeyObject | undefined {
    const key = this.#accepted.get(kid)
    if (key === undefined || (key.until !== null && this.#dependencies.now() >= key.until))
      return undefined
    return key.publicKey
  }

  /** Forged tokens cause at most one reload a second. */
  async learn(kid: string): Promise<KeyObject | undefined> {
    if (this.#accepted.has(kid) || !kidShape.test(kid)) return this.find(kid)
    if (this.#learning === undefined && performance.now() < this.#learnedAt + learnEveryMs)
      return undefined
    this.#learning ??= this.#reload().finally(() => {
      this.#learnedAt = performance.now()
      this.#learning = undefined
    })
    await this.#learning.catch(() => {})
    return this.find(kid)
  }

  isDropped(kid: string): boolean {
    return !this.#accepted.has(kid)
  }

  onDropped(listener: () => void): void {
    this.#droppedListeners.add(listener)
  }

  /** RFC 7517, section 5. */
  get publicKeySet(): { keys: JWK[] } {
    const now = this.#dependencies.now()
    if (now >= this.#nextAt) this.#tendSoon(now)
    const current = [...this.#accepted.values()].filter(
      ({ until }) => until === null || now < until,
    )
    return {
      keys: current.map(({ kid, publicJwk }) => ({ ...publicJwk, kid, alg: 'EdDSA', use: 'sig' })),
    }
  }

  /** Only one node adds the key. */
  async tend(): Promise<void> {
    const { store, now, lifetimeMs } = this.#dependencies
    const at = now()
    const keys = await store.read(signingKeys)
    const retired = scheduleOf(keys, at).filter(
      ({ key, state }) => state === 'retired' && key.retiredAt === null,
    )
    if (retired.length > 0)
      await store.write(retireSigningKeys, { kids: retired.map(({ key }) => key.kid), at })
    const next = nextKeyOf(keys, { now: at, lifetimeMs })
    if (next !== undefined && next.publishAt <= at)
      await publishKey(this.#dependencies, {
        at,
        startsAt: next.startsAt,
        after: lastOf(keys)?.kid ?? null,
      })
    await this.#reload()
  }

  /** It pauses after a failure, too. */
  #tendSoon(now: number): void {
    this.#nextAt = now + retryMs
    this.tend().catch(this.#dependencies.onFailure)
  }

  async #reload(): Promise<void> {
    const { store, now, lifetimeMs } = this.#dependencies
    const read = ++this.#reads
    const rows = await store.read(signingKeys)
    const usable = scheduleOf(rows, now()).filter(({ state }) => state !== 'retired')
    const signers = await this.#signersOf(
      usable.flatMap(({ key, state }) => (state === 'accepted' ? [] : [key])),
    )
    // A later read was applied.
    if (read < this.#applied) return
    this.#applied = read
    const isOneDropped = [...this.#accepted.keys()].some(
      (kid) => !rows.some((row) => row.kid === kid),
    )
    const accepted = usable.map(({ key, until }) => ({
      ...(this.#accepted.get(key.kid) ?? openPublic(key)),
      until,
    }))
    this.#accepted = new Map(accepted.map((key) => [key.kid, key]))
    this.#signers = signers
    this.#nextAt =
      nextKeyOf(rows, { now: now(), lifetimeMs })?.publishAt ?? Number.POSITIVE_INFINITY
    this.#dependencies.sealing.use(
      signers.some(({ secret }) => secret === 'previous') ? 'previous' : 'current',
    )
    if (isOneDropped) for (const listener of this.#droppedListeners) listener()
  }

  async #signersOf(keys: readonly SigningKey[]): Promise<Signer[]> {
    const signers: Signer[] = []
    let unopened: SigningKey | undefined
    for (const key of keys) {
      const { startsAt, sealedPrivateJwk } = key
      const known = this.#signers.find(({ kid }) => kid === key.kid)
      const isSame = known?.sealedPrivateJwk === sealedPrivateJwk
      const opened = isSame ? known : await openPrivate(key, this.#dependencies.sealing)
      if (opened === undefined) unopened = key
      const usable = opened ?? known
      if (usable !== undefined) signers.push({ ...usable, startsAt, sealedPrivateJwk })
    }
    // `open` already refuses to start, with these words.
    const isRefused = signers.length === 0 && this.#accepted.size === 0
    if (unopened !== undefined && !isRefused && unopened.sealedPrivateJwk !== this.#unopened) {
      this.#unopened = unopened.sealedPrivateJwk
      const problem = `Signing key ${unopened.kid}: ${sealedWithAnother().message}`
      this.#dependencies.onFailure(unavailable(problem))
    }
    return signers
  }
}

type Place = { store: Store; config: Parameters<typeof sealingSecrets>[0] }

/** Throws CONFLICT before the first start, UNAVAILABLE if the secret does not open the keys. */
export async function keysAndSealing({ store, config }: Place) {
  const keys = await store.read(signingKeys)
  if (keys.length === 0)
    throw conflict('There are no signing keys yet', 'The first start makes one.')
  return { keys, sealing: await sealingOf(await sealingSecrets(config, store), keys) }
}

type NewKey = { at: number; startsAt: number; after: string | null; source?: Source }

/** Undefined if another key was added since. */
export async function publishKey(
  { store, sealing }: { store: Store; sealing: Sealing },
  { at, startsAt, after, source = serviceSource }: NewKey,
): Promise<string | undefined> {
  const key = await makeSigningKey(sealing, { createdAt: at, startsAt })
  const detail = { kid: key.kid, startsAt: iso(startsAt) }
  const audit = [auditEntry(source, { event: 'signing-key-rotated', at, detail })]
  const outcome = await store.write(addSigningKey, { key, after, audit })
  return outcome === 'added' ? key.kid : undefined
}
