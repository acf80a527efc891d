import { deviceLabel, sourceOf } from '../../audit/entry.ts'
import { iso } from '../../basics/clock.ts'
import { conflict, invalidField, notAuthenticated, notFound } from '../../basics/errors.ts'
import { hashOf } from '../../basics/secrets.ts'
import { forUser, type Subject } from '../../http/operation.ts'
import { sendData } from '../../http/response/send.ts'
import type { PageNeeds } from '../../pages/page.ts'
import type { Store } from '../../store/store.ts'
import type { TokenSubject } from '../../tokens/access-token.ts'
import { areKeys } from './push-service.ts'
import type { Pushes } from './pushes.ts'
import { ListResponse, SubscriptionBody } from './subscriptions.schemas.ts'
import * as stored from './subscriptions.store.ts'

type Needs = PageNeeds & {
  store: Store
  pushes: Pick<Pushes, 'publicKey' | 'isKnown'>
  users: { now: () => number }
}

export const list = forUser({
  summary:
    'The browsers in which the user is notified by web push, and the key with which a page subscribes a browser',
  responses: { 200: ListResponse },
  async handle({ store, pushes }: Needs, { caller }, reply) {
    const found = await store.read(stored.listSubscriptions, placeOf(caller))
    const own = signInOf(caller)
    const items = found.map(({ id, signInId, device, url, createdAt, lastUsedAt }) => ({
      id,
      sessionId: isOfToken(signInId) ? null : signInId,
      current: signInId === own,
      device,
      url,
      createdAt: iso(createdAt),
      lastUsedAt: iso(lastUsedAt),
    }))
    return sendData(reply, { publicKey: await pushes.publicKey(), items })
  },
})

export const add = forUser({
  summary:
    'Notify the user in this browser, as long as the sign-in of this request lasts; the same endpoint again replaces it',
  body: SubscriptionBody,
  refusals: ['CONFLICT', 'NOT_FOUND'],
  async handle(needs: Needs, request) {
    const { store, pushes, users, site, pages } = needs
    const { caller, body } = request
    const { endpoint, keys, url = null, replaces = null } = body
    if (!pushes.isKnown(endpoint))
      throw invalidField(
        'endpoint',
        'must be of a push service of a browser, or of a host in CARILLON_PUSH_HOSTS',
      )
    if (!areKeys(keys))
      throw invalidField('keys', 'must be those of the subscription, as base64url')
    if (url !== null && !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
      throw invalidField('url', 'must be an absolute URL of https: or http:')
    const { userId: ownerId, signInId } = caller
    const {
      generation,
      signInGeneration = 0,
      issuedGeneration,
      isOfSession,
    } = caller as TokenSubject
    const isSession = caller.proof === 'session' || isOfSession === true
    const proof = isSession
      ? undefined
      : { userId: ownerId, signInId, token: { generation, signInGeneration } }
    const outcome = await store.write(stored.addSubscription, {
      id: hashOf(endpoint),
      ownerId,
      signInId: signInOf(caller),
      endpoint,
      p256dh: keys.p256dh,
      auth: keys.auth,
      url: url ?? `${site.publicUrl()}${pages.prefix}/inbox`,
      device: deviceLabel(sourceOf(needs, request).userAgent),
      factor: caller.factor ?? null,
      replaces,
      at: users.now(),
      proof,
      issuedGeneration,
    })
    if (outcome === 'ended') throw notAuthenticated()
    if (outcome === 'absent') throw noSubscription()
    if (outcome === 'too-many')
      throw conflict(
        `You can have ${stored.maxSubscriptions} push subscriptions at most`,
        'Remove one first.',
      )
  },
})

export const remove = forUser({
  summary: 'Notify the user in a browser no more',
  refusals: ['NOT_FOUND'],
  async handle({ store }: Needs, { caller, params: { id } }) {
    if (await store.write(stored.removeSubscription, { id, ...placeOf(caller) })) return
    throw noSubscription()
  },
})

function noSubscription() {
  return notFound('You have no such push subscription', 'It may have ended with its sign-in.')
}

function placeOf({ userId: ownerId, scope }: Subject) {
  return { ownerId, isScoped: scope !== undefined }
}

/** Tokens of scope `inbox` live for minutes, so all share the subscription. */
function signInOf({ scope, signInId }: Subject): string {
  return scope === undefined || signInId === 'foreign' ? signInId : 'issued'
}

function isOfToken(signInId: string): boolean {
  return (stored.tokenSignIns as readonly string[]).includes(signInId)
}
