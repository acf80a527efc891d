import * as t from '../../http/openapi/schema.ts'

const id = t.example(
  t.string('The SHA-256 of the endpoint, as base64url'),
  'vYQ0b4kzN0aDPDvBRe0Un7f8Up4c2kCq7yPzBdcMplo',
)

const keys = t.component('PushKeys', {
  p256dh: t.example(
    t.text(1, 100),
    'BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM',
  ),
  auth: t.example(t.text(1, 40), 'tBHItJI5svbpez7KI4CCXg'),
})
export const SubscriptionBody = t.component('NewPushSubscription', {
  endpoint: t.example(
    t.text(1, 2_000),
    'https://updates.push.services.mozilla.com/wpush/v2/gAAAAABk',
  ),
  keys,
  expirationTime: t.optional(t.orNull(t.integer('As browsers have it; ignored'))),
  url: t.optional(
    t.orNull(
      t.text(
        1,
        500,
        'The page that a click opens, and from which links are relative; null for the inbox page',
      ),
    ),
  ),
  replaces: t.optional(
    t.orNull(
      t.text(
        1,
        100,
        'The id of the one that it takes the place of, which this sign-in added, or `ended` for one that its push service ended; it has the same `url`',
      ),
    ),
  ),
})

const device = t.example(t.nullable(t.string('Null if unknown')), 'Firefox on Linux')
const Subscription = t.component('PushSubscription', {
  id,
  sessionId: t.nullable(
    t.string('The sign-in that it belongs to; null if an application got the token'),
  ),
  current: t.boolean('It belongs to the sign-in of this request'),
  device,
  url: t.example(t.string('The page that a click opens'), 'https://bell.example.org/inbox'),
  createdAt: t.time,
  lastUsedAt: t.time,
})
const List = t.component('PushSubscriptions', {
  publicKey: t.example(
    t.string('For `applicationServerKey` of `pushManager.subscribe`'),
    'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8',
  ),
  items: t.array(Subscription, 'Newest first; at most 20'),
})
export const ListResponse = t.dataOf(List)
