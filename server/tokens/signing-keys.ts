// The signing keys of the running service. Every node reads them at start, after a change signal and once a minute: a rotation
// refuses no token (decision 0044), and a dropped key is refused on every node at once.
import type { KeyObject } from 'node:crypto'
import type { JWK } from 'jose'
import { auditEntry, type Source, serviceSource } from '../audit/entry.ts'
import { iso } from '../basics/clock.ts'
import { unavailable } from '../basics/errors.ts'
import type { Sealing, Secrets } from '../basics/secrets.ts'
import { reloader } from '../store/reloads.ts'
import type { Store } from '../store/store.ts'
import { makeSigningKey, openPrivate, openPublic, type PrivateKey, sealedWithAnother } from './key-material.ts'
import { lastOf, nextKeyOf, reloadEveryMs, scheduleOf } from './key-schedule.ts'
import { addSigningKey, retireSigningKeys, type SigningKey, signingKeys } from './signing-keys.store.ts'

type Dependencies = {
  store: Store
  sealing: Sealing
  now: () => number
  /** For how long nodes sign with a key before the next one starts. */
  lifetimeMs: number
  onFailure: (error: unknown) => void
}

type Accepted = ReturnType<typeof openPublic> & { until: number | null }
type Signer = PrivateKey & { startsAt: number; secret: keyof Secrets; sealedPrivateJwk: string }

/** The form of a thumbprint (RFC 7638) with SHA-256. */
const kidShape = /^[\w-]{43}$/
const learnEveryMs = 1_000
const retryMs = 60_000

export class SigningKeys {
  readonly #dependencies: Dependencies
  #accepted = new Map<string, Accepted>()
  /** Those that sign now or later, in the order in which they start. */
  #signers: Signer[] = []
  /** When the next key has to be published. */
  #nextAt = Number.POSITIVE_INFINITY
  /** How many reads of the keys have begun, and which of them was applied last. */
  #reads = 0
  #applied = 0
  /** The sealed text that was reported last as one that this node cannot open. */
  #unopened = ''
  #learning: Promise<void> | undefined
  #learnedAt = Number.NEGATIVE_INFINITY
  readonly #droppedListeners = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined

  private constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Opens the keys of the store, or makes the first one. Throws UNAVAILABLE if they were sealed with another secret. */
  static async open(dependencies: Dependencies): Promise<SigningKeys> {
    const { store, now, onFailure } = dependencies
    const keys = new SigningKeys(dependencies)
    if ((await store.read(signingKeys)).length === 0) {
      const at = now()
      // If another node was faster, its key is used.
      await publishKey(dependencies, { at, startsAt: at, after: null })
    }
    await keys.#reload()
    if (keys.#signers.length === 0) throw sealedWithAnother()
    const reloadSoon = reloader(() => keys.#reload(), onFailure)
    store.onChange(reloadSoon, ['signing-key'])
    keys.#timer = setInterval(reloadSoon, reloadEveryMs).unref()
    return keys
  }

  /** Stops the periodic reload. */
  end(): void {
    clearInterval(this.#timer)
  }

  /** The key to sign with now. Throws UNAVAILABLE if this node can open none. */
  get current(): PrivateKey {
    const now = this.#dependencies.now()
    if (now >= this.#nextAt) this.#tendSoon(now)
    const signer = this.#signers.findLast(({ startsAt }) => startsAt <= now) ?? this.#signers[0]
    if (signer === undefined) throw unavailable('This node has no key to sign tokens with')
    return signer
  }

  /** Undefined if the key is not ours, or retired. `kid` is the only statement of a token about keys that the service uses. */
  find(kid: string): KeyObject | undefined {
    const key = this.#accepted.get(kid)
    if (key === undefined || (key.until !== null && this.#dependencies.now() >= key.until)) return undefined
    return key.publicKey
  }

  /** Does what `find` does, for a key that may be newer than the last reload. Forged tokens cause at most one reload a second. */
  async learn(kid: string): Promise<KeyObject | undefined> {
    if (this.#accepted.has(kid) || !kidShape.test(kid)) return this.find(kid)
    if (this.#learning === undefined && performance.now() < this.#learnedAt + learnEveryMs) return undefined
    this.#learning ??= this.#reload().finally(() => {
      this.#learnedAt = performance.now()
      this.#learning = undefined
    })
    // If the store cannot be read, the token stays unknown.
    await this.#learning.catch(() => {})
    return this.find(kid)
  }

  /** Whether the key was dropped since a token of it was verified. */
  isDropped(kid: string): boolean {
    return !this.#accepted.has(kid)
  }

  /** Calls `listener` after a key was dropped: its tokens are refused already, and streams have to be checked. */
  onDropped(listener: () => void): void {
    this.#droppedListeners.add(listener)
  }

  /** A JWK Set (RFC 7517, section 5) of the public parts, with those that nodes do not sign with yet. */
  get publicKeySet(): { keys: JWK[] } {
    const now = this.#dependencies.now()
    if (now >= this.#nextAt) this.#tendSoon(now)
    const current = [...this.#accepted.values()].filter(({ until }) => until === null || now < until)
    return { keys: current.map(({ kid, publicJwk }) => ({ ...publicJwk, kid, alg: 'EdDSA', use: 'sig' })) }
  }

  /** Publishes the next key if it is due, and retires those whose last token has expired. Of all nodes, one adds the key. */
  async tend(): Promise<void> {
    const { store, now, lifetimeMs } = this.#dependencies
    const at = now()
    const keys = await store.read(signingKeys)
    const retired = scheduleOf(keys, at).filter(({ key, state }) => state === 'retired' && key.retiredAt === null)
    if (retired.length > 0) await store.write(retireSigningKeys, { kids: retired.map(({ key }) => key.kid), at })
    const next = nextKeyOf(keys, { now: at, lifetimeMs })
    if (next !== undefined && next.publishAt <= at)
      await publishKey(this.#dependencies, { at, startsAt: next.startsAt, after: lastOf(keys)?.kid ?? null })
    await this.#reload()
  }

  /** Not more often than once a minute, also if it fails. */
  #tendSoon(now: number): void {
    this.#nextAt = now + retryMs
    this.tend().catch(this.#dependencies.onFailure)
  }

  async #reload(): Promise<void> {
    const { store, now, lifetimeMs } = this.#dependencies
    const read = ++this.#reads
    const rows = await store.read(signingKeys)
    const usable = scheduleOf(rows, now()).filter(({ state }) => state !== 'retired')
    const signers = await this.#signersOf(usable.flatMap(({ key, state }) => (state === 'accepted' ? [] : [key])))
    // A read that began later has been applied already.
    if (read < this.#applied) return
    this.#applied = read
    const isOneDropped = [...this.#accepted.keys()].some((kid) => !rows.some((row) => row.kid === kid))
    const accepted = usable.map(({ key, until }) => ({ ...(this.#accepted.get(key.kid) ?? openPublic(key)), until }))
    this.#accepted = new Map(accepted.map((key) => [key.kid, key]))
    this.#signers = signers
    this.#nextAt = nextKeyOf(rows, { now: now(), lifetimeMs })?.publishAt ?? Number.POSITIVE_INFINITY
    this.#dependencies.sealing.use(signers.some(({ secret }) => secret === 'previous') ? 'previous' : 'current')
    if (isOneDropped) for (const listener of this.#droppedListeners) listener()
  }

  /** Without those that this node cannot open: then it signs with another one, and learns of everything else. */
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
    // If the first read opens none, `open` refuses to start: the same in the log would be said twice.
    const isRefused = signers.length === 0 && this.#accepted.size === 0
    if (unopened !== undefined && !isRefused && unopened.sealedPrivateJwk !== this.#unopened) {
      this.#unopened = unopened.sealedPrivateJwk
      const problem = `Signing key ${unopened.kid}: ${sealedWithAnother().message}`
      this.#dependencies.onFailure(unavailable(problem))
    }
    return signers
  }
}

type NewKey = { at: number; startsAt: number; after: string | null; source?: Source }

/** Adds a key that signs from `startsAt`, if `after` still starts last. Returns its id; undefined if another key was added since. */
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
