// Lets the store decide what is pushed, and makes and sends each push.
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { iso } from '../../basics/clock.ts'
import { countSending } from '../../basics/counts.ts'
import type { Sealing } from '../../basics/secrets.ts'
import { languageFor, textsOf } from '../../pages/texts/texts.ts'
import { rulesOf } from '../../preferences/preferences.store.ts'
import type { Store } from '../../store/store.ts'
import { makeSealedKey, openSealedKey } from '../../tokens/sealed-keys.ts'
import { findUser } from '../../users/users.store.ts'
import type { Item } from '../items.store.ts'
import type { OutboxRow } from '../outbox.store.ts'
import { Refused } from '../outbox.ts'
import type { ReachOptions } from '../reach-options.ts'
import { pushContent } from './push.store.ts'
import { maxIds, pushOf } from './push-message.ts'
import { isKnownEndpoint, publicKeyOf, sendPush } from './push-service.ts'
import {
  endSubscription,
  findSubscription,
  type Subscription,
  tokenSignIns,
} from './subscriptions.store.ts'

/** The policy does not concern what applications get for their users. */
const exempt: readonly string[] = tokenSignIns

export function makePushKey(store: Store, sealing: Sealing): Promise<void> {
  const make = async () => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    return JSON.stringify(await exportJWK(privateKey))
  }
  return makeSealedKey(store, sealing, { purpose: 'push', make })
}

export class Pushes {
  readonly #options: ReachOptions
  #key: JWK | undefined

  constructor(options: ReachOptions) {
    this.#options = options
  }

  async #opened(): Promise<JWK> {
    const { store, sealing } = this.#options
    this.#key ??= JSON.parse((await openSealedKey(store, sealing, 'push')) ?? '{}') as JWK
    return this.#key
  }

  /** Throws UNAVAILABLE if the secret does not open it. */
  async publicKey(): Promise<string> {
    return publicKeyOf(await this.#opened())
  }

  isKnown(endpoint: string): boolean {
    return isKnownEndpoint(endpoint, this.#options.config.pushHosts)
  }

  /**
   * Does nothing if all is seen or not wanted now, the subscription ended, or its sign-in only sets a
   * factor up.
   */
  async deliver({ ownerId, target: id, ids }: OutboxRow): Promise<void> {
    const { store, clock, config, url: publicUrl } = this.#options
    const user = await store.read(findUser, ownerId)
    const subscription = await store.read(findSubscription, { id, ownerId })
    if (user === undefined || user.disabledAt !== null || subscription === undefined) return
    if (this.#isLimited(subscription)) return
    const rules = await store.read(rulesOf, user, 'off', iso(clock.now()))
    const isWanted = ({ category }: Item) =>
      category === 'security' || (rules.isPushed(category) && !rules.isMuted(category))
    const found = await store.read(pushContent, { userId: ownerId, maxIds })
    const content = { ...found, unseen: found.unseen.filter(isWanted) }
    const pushed = new Set<string>(JSON.parse(ids))
    const due = content.unseen.filter((one) => pushed.has(one.id))
    if (due.length === 0) return
    const { endpoint, url } = subscription
    if (!this.isKnown(endpoint))
      throw new Refused('the host of the push service is in no list any more')
    const language = languageFor(undefined, user.locale)
    const { push: texts } = await textsOf('service', language)
    const hasContent = config.pushContent
    const push = pushOf({ user, texts, language, url, due, content, hasContent })
    const contact = contactOf(config.securityContact, publicUrl())
    const sender = { key: await this.#opened(), contact, now: clock.now() }
    const outcome = await countSending('push', sendPush(subscription, push, sender))
    if (outcome === 'gone') await store.write(endSubscription, { id, ownerId })
  }

  #isLimited({ ownerId: userId, signInId, factor }: Subscription): boolean {
    const { policy, clock } = this.#options
    if (exempt.includes(signInId)) return false
    return clock.now() >= policy.limitedFrom({ userId, ...(factor && { factor }) })
  }
}

/** How push services reach the operator (RFC 8292, section 2.1); undefined if neither will do. */
function contactOf(securityContact: string | undefined, url: string): string | undefined {
  return [securityContact, url].find((one) => one !== undefined && /^(https:|mailto:)/.test(one))
}
