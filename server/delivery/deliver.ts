// Turns a request into notifications, exactly once per Idempotency-Key.
import { hash } from 'node:crypto'
import { iso } from '../basics/clock.ts'
import { counts } from '../basics/counts.ts'
import {
  CarillonError,
  conflict,
  type Fault,
  invalidRequest,
  unavailable,
} from '../basics/errors.ts'
import { mapInTurns } from '../basics/event-loop.ts'
import { newId, newIdBeside } from '../basics/ids.ts'
import { contentOf } from '../inbox/notification-json.ts'
import type { ReachRules, Watch } from '../inbox/reminders.store.ts'
import type { Sender } from '../producers/producer-key.ts'
import { inBatches } from '../store/batches.ts'
import type { Store } from '../store/store.ts'
import type { Recogniser } from '../users/erasure/erased-ids.ts'
import { findableUsername } from '../users/username.ts'
import { type ContentRules, contentFaults } from './content-faults.ts'
import type { DeliveryBody, WithoutNulls } from './delivery.schemas.ts'
import { deliver, findOutcome, removeOldDeliveries } from './delivery.store.ts'
import type { Delivery, DeliveryOutcome, Recipient, UnknownRecipients } from './delivery.ts'

export type DeliveryRequest = WithoutNulls<Omit<DeliveryBody, 'recipients'>> & {
  recipients: Recipient[]
}
type DeliveryOptions = {
  idempotencyKey?: string | undefined
  /** With scope `users`, an unknown external id becomes a user. */
  sender?: Sender
  deliveryId?: string
}
type Identified = DeliveryOptions & { deliveryId: string }

const keptForMs = 24 * 3_600_000
/** RFC 9110, section 5.6.2: visible ASCII. */
const idempotencyKeyShape = /^[\x21-\x7e]{1,255}$/

type DeliveryDependencies = ReachRules & {
  store: Store
  now: () => number
  wall: () => number
  webhooks?: { watchOf(application: string): Watch | undefined }
  imageHosts: readonly string[]
  /** `ownIds`: false if the issuer gives plain ids. */
  issuers: readonly {
    readonly issuer: string
    readonly application: string
    readonly ownIds: boolean
  }[]
  erased: Recogniser
}

export class Deliveries {
  readonly #dependencies: DeliveryDependencies
  readonly #running = new Set<string>()

  constructor(dependencies: DeliveryDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Throws INVALID_REQUEST, CONFLICT (the key is in use) or UNPROCESSABLE (the key was used for
   * another body, or recipients are unknown). A repetition has the same outcome.
   */
  async deliver(
    producerId: string,
    request: DeliveryRequest,
    options: DeliveryOptions = {},
  ): Promise<DeliveryOutcome> {
    const deliveryId = options.deliveryId ?? newId(this.#dependencies.wall())
    try {
      const outcome = await this.#deliverOnce(producerId, request, { ...options, deliveryId })
      countOutcome(outcome, outcome.deliveryId !== deliveryId)
      return outcome
    } catch (error) {
      counts.deliveries[
        error instanceof CarillonError && error.status < 500 ? 'refused' : 'failed'
      ]++
      throw error
    }
  }

  async #deliverOnce(
    producerId: string,
    request: DeliveryRequest,
    options: Identified,
  ): Promise<DeliveryOutcome> {
    const { idempotencyKey } = options
    if (idempotencyKey === undefined) return this.#send(producerId, request, options)
    const delivery = `${producerId} ${idempotencyKey}`
    if (this.#running.has(delivery))
      throw conflict(
        'A delivery with this Idempotency-Key is running',
        'Send the request again when it is done.',
      )
    this.#running.add(delivery)
    try {
      return await this.#send(producerId, request, options)
    } finally {
      this.#running.delete(delivery)
    }
  }

  async removeOld(at: number): Promise<void> {
    await inBatches(() => this.#dependencies.store.write(removeOldDeliveries, at - keptForMs))
  }

  async #send(
    producerId: string,
    request: DeliveryRequest,
    options: Identified,
  ): Promise<DeliveryOutcome> {
    const { store, now, wall, imageHosts, erased } = this.#dependencies
    const at = wall()
    const { idempotencyKey: key, sender, deliveryId } = options
    const idempotency =
      key === undefined
        ? null
        : { key, bodyHash: hash('sha256', JSON.stringify(request), 'base64url') }
    const details = faultsOf(request, key, { at, imageHosts })
    if (details.length > 0) {
      const earlier = idempotency && (await store.read(findOutcome, { producerId, ...idempotency }))
      // The remembered key may have been revoked.
      await sender?.checkAgain()
      if (earlier) return earlier
      throw invalidRequest(details, 'The delivery is invalid')
    }
    const application = sender?.application ?? ''
    const {
      recipients,
      renotify,
      unknownRecipients,
      category = null,
      key: notificationKey = null,
    } = request
    const named = await mapInTurns(recipients, (to) => ({
      to: this.#prepared(to, application),
      notificationId: newIdBeside(deliveryId),
      ...(sender?.createsUsers && this.#isCreatable(to, application) && { newUserId: newId(at) }),
    }))
    const delivery: Delivery = {
      id: deliveryId,
      producerId,
      application,
      idempotency,
      content: contentOf(request),
      category,
      key: notificationKey,
      createdAt: iso(at),
      renotify,
      recipients: named,
      erased: named.some(({ newUserId }) => newUserId) ? await erased() : undefined,
      unknownRecipients,
      at: now(),
      mailUnread: this.#dependencies.mailUnread,
      watch: this.#dependencies.webhooks?.watchOf(application),
      pushDelayMs: this.#dependencies.pushDelayMs,
      secretHash: sender?.secretHash,
    }
    let outcome = await store.write(deliver, delivery)
    if (outcome === 'refused')
      outcome = await store.write(deliver, {
        ...delivery,
        secretHash: (await sender?.checkAgain())?.secretHash,
      })
    if (outcome === 'refused')
      throw unavailable('The producer key changes too often', 'Send the request again.')
    if (outcome === 'mismatch')
      throw new CarillonError('UNPROCESSABLE', 'This Idempotency-Key was used for another body', {
        remedy: 'Use a new key.',
      })
    if ('unknown' in outcome) {
      counts.recipients.unknown_recipient += outcome.unknown.length
      throw this.#unknownRecipientsError(request, outcome, sender)
    }
    return outcome
  }

  #prepared(to: Recipient, application: string): Recipient {
    if ('username' in to) return { username: findableUsername(to.username) ?? '' }
    if ('externalId' in to && this.#issuerOf(to, application)?.ownIds === false)
      return { externalId: to.externalId }
    return to
  }

  #issuerOf({ issuer }: { issuer?: string }, application: string) {
    return this.#dependencies.issuers.find(
      (one) => one.issuer === issuer && one.application === application,
    )
  }

  /** False for an issuer that is not set up, perhaps misspelt. Without issuers, all pass. */
  #isCreatable(to: Recipient, application: string): boolean {
    if (!('externalId' in to)) return false
    const isAny = to.issuer === undefined || this.#dependencies.issuers.length === 0
    return isAny || this.#issuerOf(to, application) !== undefined
  }

  #unknownRecipientsError(
    { recipients, unknownRecipients }: DeliveryRequest,
    { unknown }: UnknownRecipients,
    sender: Sender | undefined,
  ): CarillonError {
    const application = sender?.application ?? ''
    const details = unknown.map((n) => {
      const to = recipients[n]
      const isForeign =
        to !== undefined && 'externalId' in to && !this.#isCreatable(to, application)
      const reason = isForeign
        ? 'names no user, and its issuer is not in CARILLON_ISSUERS'
        : 'names no user'
      return { field: `recipients.${n}`, reason }
    })
    const problem =
      unknownRecipients === 'refuse'
        ? 'Not every recipient is a user, so nothing was delivered'
        : 'No recipient is a user'
    const isOfNew =
      unknownRecipients !== 'refuse' &&
      unknown.some((n) => recipients[n] && this.#isCreatable(recipients[n], application))
    const remedy = sender?.createsUsers
      ? 'A user who was erased is created again by PUT /api/users/external/:externalId.'
      : 'A key with the scope users creates the users that it names by externalId, unless it was made with --creates-users off.'
    return new CarillonError('UNPROCESSABLE', problem, { details, ...(isOfNew && { remedy }) })
  }
}

function countOutcome({ results }: DeliveryOutcome, isRepeated: boolean): void {
  counts.deliveries[isRepeated ? 'repeated' : 'delivered']++
  if (!isRepeated) for (const { status } of results) counts.recipients[status]++
}

function faultsOf(
  request: DeliveryRequest,
  idempotencyKey: string | undefined,
  rules: ContentRules,
): Fault[] {
  const details = contentFaults(request, rules)
  if (idempotencyKey !== undefined && !idempotencyKeyShape.test(idempotencyKey))
    details.push({ field: 'Idempotency-Key', reason: 'must be 1 to 255 visible ASCII characters' })
  if (request.renotify === true && request.key === undefined)
    details.push({
      field: 'renotify',
      reason: 'needs a key, which names the notification to send again',
    })
  return details
}
