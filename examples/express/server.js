// A shop with its own users, and a bell for them. Page, shop and Carillon have one origin: Carillon is below /bell/.
import { fileURLToPath } from 'node:url'
import { createProducer } from 'carillon-client'
import express from 'express'
import { ownSignIn, signedIn } from './own-sign-in.js'
import { passTo } from './proxy.js'

const {
  CARILLON_URL = 'http://127.0.0.1:7464',
  CARILLON_PRODUCER_KEY = '',
  PORT = '3000',
} = process.env
/** The key has the scopes `send` and `users`. It stays on this server. */
const carillon = createProducer({ baseUrl: CARILLON_URL, key: CARILLON_PRODUCER_KEY })
const root = fileURLToPath(new URL('public', import.meta.url))

const app = express()
// Before every other middleware: a body parser would take the bodies, and a compressing one would hold the live events back.
// In production the proxy in front does this: docs/integrate.md, "One origin".
app.use('/bell', passTo(CARILLON_URL))
app.use((_request, response, next) => {
  response.set(
    'content-security-policy',
    "default-src 'self'; img-src data:; base-uri 'none'; form-action 'self'",
  )
  next()
})
app.use(express.urlencoded())
app.use(ownSignIn)

/** The page of a signed-in user gets a token that opens this user's inbox, and nothing else, for 15 minutes. */
app.post('/bell-token', signedIn, async (request, response) => {
  const { id: externalId, name } = request.user
  await carillon.users.put(externalId, { displayName: name })
  response.json(await carillon.users.issueToken({ externalId }))
})

/** The page calls `signOut()` of its bell after this. In other browsers of the user, the bell gets a new token. */
app.post('/sign-out', signedIn, async (request, response) => {
  request.endSession()
  await carillon.users.revokeTokens({ externalId: request.user.id })
  response.status(204).end()
})

/** Something happens in the shop, and a user gets a notification. Carillon does not have to know the user before. */
app.post('/orders', signedIn, (request, response) => {
  const recipients = [{ externalId: request.user.id }]
  // The order neither waits for the notification nor fails with it: without Carillon, `send` tries for ten seconds or more.
  carillon.send({ recipients, title: 'Tea is on its way', url: '/#orders' }).catch(console.error)
  response.status(201).json({})
})

app.get('/', ({ user }, response) =>
  response.sendFile(user ? 'shop.html' : 'sign-in.html', { root }),
)
app.use(express.static(root))
app.listen(Number(PORT), '127.0.0.1', function listening() {
  console.log(`http://127.0.0.1:${this.address().port}`)
})
