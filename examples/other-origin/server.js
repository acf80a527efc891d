// A task board with its own users, and a bell for them. Carillon has an origin of its own, such as a subdomain: its setting
// CARILLON_ALLOWED_ORIGINS names the origin of this application.
import { serve } from '@hono/node-server'
import { serveStatic } from '@hono/node-server/serve-static'
import { createProducer } from 'carillon-client'
import { Hono } from 'hono'
import { ownSignIn, ownSignOut, signedIn, userOf } from './own-sign-in.js'
import { boardPage, signInPage } from './pages.js'

const {
  CARILLON_URL = 'http://127.0.0.1:7464',
  CARILLON_PRODUCER_KEY = '',
  PORT = '3000',
} = process.env
/** The key has the scopes `send` and `users`. It stays on this server. */
const carillon = createProducer({ baseUrl: CARILLON_URL, key: CARILLON_PRODUCER_KEY })
/** Scripts and connections of the page: this application and Carillon, no other origin. */
const sources = `'self' ${CARILLON_URL}`
const policy = `default-src 'self'; script-src ${sources}; connect-src ${sources}; img-src data:`

const app = new Hono()
app.use(async (context, next) => {
  context.header('content-security-policy', policy)
  await next()
})
app.post('/sign-in', ownSignIn)
app.get('/', (context) => context.html(userOf(context) ? boardPage(CARILLON_URL) : signInPage))
app.get('/board.js', serveStatic({ root: './public' }))

/** The page of a signed-in user gets a token that opens this user's inbox, and nothing else, for 15 minutes. */
app.post('/bell-token', signedIn, async (context) => {
  const { id: externalId, name } = context.get('user')
  await carillon.users.put(externalId, { displayName: name })
  return context.json(await carillon.users.issueToken({ externalId }))
})

/** The page calls `signOut()` of its bell after this. In other browsers of the user, the page gets a new token. */
app.post('/sign-out', signedIn, async (context) => {
  ownSignOut(context)
  await carillon.users.revokeTokens({ externalId: context.get('user').id })
  return context.body(null, 204)
})

/** A task is assigned, and its new owner gets a notification. Carillon does not have to know the owner before. */
app.post('/tasks', signedIn, async (context) => {
  const { owner, title } = await context.req.parseBody()
  const recipients = [{ externalId: owner }]
  await carillon.send({
    recipients,
    title: `${context.get('user').name}: ${title}`,
    url: '/#tasks',
  })
  return context.json({}, 201)
})

serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}`)
})
