// A producer's request -> notifications in inboxes, exactly once per Idempotency-Key.
import { hash } from 'node:crypto'
import { CarillonError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { DeliveryOutcome, Recipient, Store } from '../../store/store.ts'
import { iso } from '../../times.ts'
import { linkFault } from './link.ts'

export type DeliveryRequest = {
  recipients: Recipient[]
  title: string
  body?: string
  url?: string
  category?: string
  data?: Record<string, unknown>
  key?: string
}

const maxDataBytes = 8 * 1024
/** How long a retry finds the answer to its key again. */
const keptForMs = 24 * 3_600_000
/** RFC 9110, section 5.6.2: visible ASCII characters. */
const idempotencyKeyShape = /^[\x21-\x7e]{1,255}$/

export class Deliveries {
  readonly #store: Pick<Store, 'deliver' | 'removeOldDeliveries'>
  readonly #now: () => number
  readonly #wall: () => number
  readonly #prepareUsername: (username: string) => string | undefined
  readonly #underWay = new Set<string>()

  constructor(parts: {
    store: Pick<Store, 'deliver' | 'removeOldDeliveries'>
    /** The time of lifetimes, which never goes back, and the clock that people see. */
    now: () => number
    wall: () => number
    /** A username as it is kept, or undefined where no user can have it. */
    prepareUsername: (username: string) => string | undefined
  }) {
    this.#store = parts.store
    this.#now = parts.now
    this.#wall = parts.wall
    this.#prepareUsername = parts.prepareUsername
  }

  /**
   * Throws INVALID_REQUEST, CONFLICT (the same key is being worked on right now) or UNPROCESSABLE (the key was used
   * for another body).
   */
  async deliver(
    producerId: string,
    request: DeliveryRequest,
    idempotencyKey: string | undefined,
  ): Promise<DeliveryOutcome> {
    refuseUnfit(request, idempotencyKey)
    if (idempotencyKey === undefined) return this.#send(producerId, request, null)
    const running = `${producerId} ${idempotencyKey}`
    if (this.#underWay.has(running))
      throw new CarillonError('CONFLICT', 'A delivery with this Idempotency-Key is under way', {
        remedy: 'Send the request again when it is done.',
      })
    this.#underWay.add(running)
    try {
      return await this.#send(producerId, request, idempotencyKey)
    } finally {
      this.#underWay.delete(running)
    }
  }

  /** Forgets idempotency keys that nobody will retry any more. */
  removeOld(): Promise<void> {
    return this.#store.removeOldDeliveries(this.#now() - keptForMs)
  }

  async #send(producerId: string, request: DeliveryRequest, key: string | null): Promise<DeliveryOutcome> {
    const at = this.#wall()
    const outcome = await this.#store.deliver({
      id: newId(at),
      producerId,
      idempotency: key === null ? null : { key, bodyHash: hash('sha256', JSON.stringify(request), 'base64url') },
      content: contentOf(request, at),
      category: request.category ?? null,
      key: request.key ?? null,
      recipients: request.recipients.map((to) => ({ to: this.#prepared(to), notificationId: newId(at) })),
      at: this.#now(),
    })
    if (outcome === 'mismatch')
      throw new CarillonError('UNPROCESSABLE', 'This Idempotency-Key was used for another body', {
        remedy: 'Use a new key.',
      })
    return outcome
  }

  #prepared(to: Recipient): Recipient {
    return 'username' in to ? { username: this.#prepareUsername(to.username) ?? '' } : to
  }
}

/** The immutable part, in the order in which it is sent; braces, id and read state are added when it is read. */
function contentOf({ title, body, url, category, data, key }: DeliveryRequest, at: number): string {
  return JSON.stringify({
    title,
    body: body ?? null,
    url: url ?? null,
    category: category ?? null,
    data: data ?? null,
    key: key ?? null,
    createdAt: iso(at),
  }).slice(1, -1)
}

function refuseUnfit({ url, data }: DeliveryRequest, idempotencyKey: string | undefined): void {
  const details = []
  if (idempotencyKey !== undefined && !idempotencyKeyShape.test(idempotencyKey))
    details.push({ field: 'Idempotency-Key', reason: 'must be 1 to 255 visible ASCII characters' })
  const badLink = url === undefined ? undefined : linkFault(url)
  if (badLink !== undefined) details.push({ field: 'url', reason: badLink })
  if (data !== undefined && Buffer.byteLength(JSON.stringify(data)) > maxDataBytes)
    details.push({ field: 'data', reason: `must be at most ${maxDataBytes} bytes as JSON` })
  if (details.length > 0)
    throw new CarillonError('INVALID_REQUEST', 'The delivery cannot be sent like this', { details })
}
