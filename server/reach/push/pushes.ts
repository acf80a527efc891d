// Lets the store decide what is pushed, and makes and sends each push. What it says is read when it
// is sent.
import { exportJWK, generateKeyPair } from 'jose'
import { newOrderedId } from '../../basics/ids.ts'
import type { Sealing } from '../../basics/secrets.ts'
import { languageFor, textsOf } from '../../pages/texts/texts.ts'
import type { Store } from '../../store/store.ts'
import type { FactorPolicy } from '../../tokens/factor-policy.ts'
import { makeSealedKey, openSealedKey } from '../../tokens/sealed-keys.ts'
import { findUser, type User } from '../../users/users.store.ts'
import type { OutboxRow } from '../outbox.store.ts'
import { Refused } from '../outbox.ts'
import { decidePush, type PushContent, type PushedItem, pushContent } from './push.store.ts'
import { maxIds, pushOf } from './push-message.ts'
import { isKnownEndpoint, type Push, PushKey, sendPush } from './push-service.ts'
import {
  findSubscription,
  maxSubscriptions,
  removeSubscription,
  type Subscription,
  tokenSignIns,
} from './subscriptions.store.ts'

export type PushOptions = {
  store: Store
  sealing: Sealing
  policy: Pick<FactorPolicy, 'limitedFrom'>
  now: () => number
  delayMs: number
  /** Title and link are the words of others. */
  hasContent: boolean
  /** The hosts of the browsers are allowed anyway. */
  hosts: readonly string[]
  /** Operators of push services use it: `mailto:` or https. */
  contact: () => string | undefined
  onRows: () => void
}

/** What applications get for their users does not concern the policy. */
const exempt: readonly string[] = tokenSignIns

/** The first start makes the key by which push services know this service. */
export function makePushKey(store: Store, sealing: Sealing): Promise<void> {
  const make = async () => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    return JSON.stringify(await exportJWK(privateKey))
  }
  return makeSealedKey(store, sealing, { purpose: 'push', make })
}

export class Pushes {
  readonly #options: PushOptions
  #key: PushKey | undefined

  constructor(options: PushOptions) {
    this.#options = options
  }

  /** Throws UNAVAILABLE if the secret does not open it. */
  async key(): Promise<PushKey> {
    const { store, sealing } = this.#options
    this.#key ??= new PushKey((await openSealedKey(store, sealing, 'push')) ?? '{}')
    return this.#key
  }

  isKnown(endpoint: string): boolean {
    return isKnownEndpoint(endpoint, this.#options.hosts)
  }

  async decide(userId: string): Promise<void> {
    const { store, now, delayMs: pushDelayMs, onRows } = this.#options
    const at = now()
    const rowIds = Array.from({ length: maxSubscriptions }, () => newOrderedId(at))
    if ((await store.write(decidePush, { userId, at, pushDelayMs, rowIds })) > 0) onRows()
  }

  /**
   * Does nothing if all of the row is seen, if the subscription has ended, or if its sign-in only
   * sets a second factor up.
   */
  async deliver({ ownerId, target: id, ids }: OutboxRow): Promise<void> {
    const { store, now, contact } = this.#options
    const user = await store.read(findUser, ownerId)
    const subscription = await store.read(findSubscription, { id, ownerId })
    if (user === undefined || user.disabledAt !== null || subscription === undefined) return
    if (this.#isLimited(subscription)) return
    const content = await store.read(pushContent, { userId: ownerId, maxIds })
    const wanted = new Set<string>(JSON.parse(ids))
    const due = content.unseen.filter((one) => wanted.has(one.id))
    if (due.length === 0) return
    const { endpoint } = subscription
    if (!this.isKnown(endpoint))
      throw new Refused('the host of the push service is in no list any more')
    const push = await this.#render(user, subscription, due, content)
    const at = now()
    const authorization = await (await this.key()).authorization(endpoint, {
      now: at,
      contact: contact(),
    })
    if ((await sendPush(subscription, push, { authorization, now: at })) === 'gone')
      await store.write(removeSubscription, { id, ownerId, isScoped: false })
  }

  #isLimited({ ownerId: userId, signInId, factor }: Subscription): boolean {
    const { policy, now } = this.#options
    if (exempt.includes(signInId)) return false
    return now() >= policy.limitedFrom({ userId, ...(factor && { factor }) })
  }

  async #render(
    user: User,
    { url }: Subscription,
    due: readonly PushedItem[],
    content: PushContent,
  ): Promise<Push> {
    const language = languageFor(undefined, user.locale)
    const { push: texts } = await textsOf('service', language)
    return pushOf({
      user,
      texts,
      language,
      url,
      due,
      content,
      hasContent: this.#options.hasContent,
    })
  }
}
