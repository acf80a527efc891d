// A key is displayed once, and stored as a hash.
import { randomBytes } from 'node:crypto'
import { recorded, type Source } from '../audit/entry.ts'
import { BoundedCache } from '../basics/bounded-cache.ts'
import { notFound } from '../basics/errors.ts'
import { equalHashes, hashOf, randomText } from '../basics/secrets.ts'
import type { Store } from '../store/store.ts'
import { formatRate, KeyRates } from './key-rates.ts'
import type { KeyRate, Producer } from './producers.store.ts'
import * as stored from './producers.store.ts'

export const scopes = ['send', 'users', 'webhooks'] as const
/** The delivery compares the secret, and calls `checkAgain` after a change. */
export type Sender = Pick<
  Producer,
  'id' | 'application' | 'scopes' | 'createsUsers' | 'secretHash'
> & {
  checkAgain: () => Promise<Producer>
}

export type Scope = (typeof scopes)[number]

const touchEveryMs = 60_000
/** Deliveries check again, so a revoked key delivers nothing. */
const rememberedMs = 1_000
const maxRemembered = 1_000
const keyShape = /^crl_([a-f0-9]{16})_([\w-]{43})$/

type Dependencies = {
  store: Store
  now: () => number
  source?: Source
}

type Wanted = {
  name: string
  application?: string | undefined
  scopes: readonly Scope[]
  createsUsers?: boolean | undefined
  expiresAt: number | null
  rate?: KeyRate | null
}

export class ProducerKeys {
  readonly rates: KeyRates
  readonly #dependencies: Dependencies
  readonly #remembered = new BoundedCache<{ producer: Producer; at: number }>(maxRemembered)

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.rates = new KeyRates(dependencies)
  }

  async issue(wanted: Wanted): Promise<{ id: string; key: string }> {
    const { store, now } = this.#dependencies
    const id = randomBytes(8).toString('hex')
    const secret = randomText()
    const { name, application = '', createsUsers = true } = wanted
    const detail = {
      keyId: id,
      name,
      scopes: wanted.scopes.join(','),
      ...(application && { application }),
      ...(!createsUsers && { createsUsers: 'off' }),
      ...(wanted.rate && { rate: formatRate(wanted.rate) }),
    }
    const entry = recorded(this.#dependencies, { event: 'key-created', detail })
    const producer = {
      ...wanted,
      id,
      application,
      createsUsers,
      secretHash: hashOf(secret),
      createdAt: now(),
    }
    await store.write(stored.addProducer, { ...producer, ...entry })
    return { id, key: `crl_${id}_${secret}` }
  }

  async verify(key: string): Promise<Producer | null> {
    const presented = parseKey(key)
    if (presented === null) return null
    const { store, now } = this.#dependencies
    const producer = await store.read(stored.findProducer, presented.id)
    const at = now()
    if (producer === undefined || !isValid(producer, { ...presented, at })) return null
    this.#remembered.set(producer.id, { producer, at }, 1)
    if (at >= (producer.lastUsedAt ?? 0) + touchEveryMs) {
      // A failure loses only this use's time.
      store.write(stored.touchProducer, { producerId: producer.id, at }).catch(() => {})
    }
    return producer
  }

  verifyRemembered(key: string): Producer | null {
    const presented = parseKey(key)
    const remembered = presented && this.#remembered.get(presented.id)
    const at = this.#dependencies.now()
    if (!presented || !remembered || at >= remembered.at + rememberedMs) return null
    return isValid(remembered.producer, { ...presented, at }) ? remembered.producer : null
  }

  /** Accepts the earlier secret for `overlapMs` more. Throws NOT_FOUND. */
  async rotate(
    producerId: string,
    overlapMs: number,
  ): Promise<{ key: string; previousUntil: number }> {
    const { store, now } = this.#dependencies
    const secret = randomText()
    const previousUntil = now() + overlapMs
    const entry = recorded(this.#dependencies, {
      event: 'key-rotated',
      detail: { keyId: producerId, previousUntil },
    })
    const rotation = { producerId, secretHash: hashOf(secret), previousUntil, ...entry }
    const outcome = await store.write(stored.rotateProducer, rotation)
    if (outcome === 'absent') throw notFound(`There is no key ${producerId}, or it is revoked`)
    return { key: `crl_${producerId}_${secret}`, previousUntil }
  }

  async revoke(producerId: string): Promise<void> {
    const { store, now } = this.#dependencies
    const entry = recorded(this.#dependencies, {
      event: 'key-revoked',
      detail: { keyId: producerId },
    })
    const outcome = await store.write(stored.revokeProducer, { producerId, at: now(), ...entry })
    if (outcome === 'absent') throw notFound(`There is no key ${producerId}`)
  }
}

/** Without secrets. */
export function displayedKey(producer: Producer) {
  const { secretHash: _, previousSecretHash: __, application, rate, ...key } = producer
  return { ...key, application: application || null, rate: rate && formatRate(rate) }
}

type PresentedKey = { id: string; secretHash: string }

function parseKey(key: string): PresentedKey | null {
  const [, id, secret] = keyShape.exec(key) ?? []
  return id === undefined || secret === undefined ? null : { id, secretHash: hashOf(secret) }
}

function isValid(producer: Producer, { secretHash, at }: PresentedKey & { at: number }): boolean {
  const { previousSecretHash, previousUntil, revokedAt, expiresAt } = producer
  const isPrevious =
    previousUntil !== null &&
    at < previousUntil &&
    equalHashes(previousSecretHash ?? '', secretHash)
  if (!isPrevious && !equalHashes(producer.secretHash, secretHash)) return false
  return revokedAt === null && (expiresAt === null || at < expiresAt)
}
