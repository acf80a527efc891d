// A task board with its own users, and a bell for them. Carillon has an origin of its own, such as a subdomain: its setting
// CARILLON_ALLOWED_ORIGINS names the origin of this application.
import { serve } from '@hono/node-server'
import { serveStatic } from '@hono/node-server/serve-static'
import { createProducer } from 'carillon-client'
import { Hono } from 'hono'
import { html } from 'hono/html'
import { ownSignIn, sendMe, signedIn } from './own-sign-in.js'

const { CARILLON_URL = 'http://127.0.0.1:7464', CARILLON_PRODUCER_KEY = '', PORT = '3000' } = process.env
/** The key has the scopes `send` and `users`. It stays on this server. */
const carillon = createProducer({ baseUrl: CARILLON_URL, key: CARILLON_PRODUCER_KEY })

const app = new Hono()
app.post('/sign-in', ownSignIn)
app.get('/me', sendMe)

/** The page of a signed-in user gets a token that opens this user's inbox, and nothing else, for 15 minutes. */
app.post('/bell-token', signedIn, async (context) => {
  const { id: externalId, name } = context.get('user')
  await carillon.users.put(externalId, { displayName: name })
  return context.json(await carillon.users.issueToken({ externalId }))
})

/** A task is assigned, and its new owner gets a notification. Carillon does not have to know the owner before. */
app.post('/tasks', signedIn, async (context) => {
  const { owner, title } = await context.req.json()
  const recipients = [{ externalId: owner }]
  await carillon.send({ recipients, title: `${context.get('user').name}: ${title}` })
  return context.json({}, 201)
})

app.get('/', (context) =>
  context.html(html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <meta name="carillon-url" content="${CARILLON_URL}">
    <title>Tasks</title>
    <link rel="icon" href="data:,">
    <script type="module" src="/page.js"></script>
  </head>
  <body><div id="root"></div></body>
</html>`),
)
app.get('/page.js', serveStatic({ root: './public' }))

serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}`)
})
