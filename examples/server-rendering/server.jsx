// A page that React renders on the server, with the user's notifications in its HTML. Carillon has an origin of its own.
import { serve } from '@hono/node-server'
import { serveStatic } from '@hono/node-server/serve-static'
import { createCarillon, createProducer } from 'carillon-client'
import { CarillonProvider } from 'carillon-client/react'
import { Hono } from 'hono'
import { renderToString } from 'react-dom/server'
import { ownSignIn, ownSignOut, signedIn, userOf } from './own-sign-in.js'
import { Page, SignIn } from './page.jsx'

const {
  CARILLON_URL = 'http://127.0.0.1:7464',
  CARILLON_PRODUCER_KEY = '',
  PORT = '3000',
} = process.env
/** The key has the scope `users`. It stays on this server. */
const producer = createProducer({ baseUrl: CARILLON_URL, key: CARILLON_PRODUCER_KEY })

/** A token that opens the inbox of one user of this application. */
async function tokenFor({ id: externalId, name }) {
  await producer.users.put(externalId, { displayName: name })
  return producer.users.issueToken({ externalId })
}

const app = new Hono()
app.use(async (context, next) => {
  context.header(
    'content-security-policy',
    `default-src 'self'; connect-src 'self' ${CARILLON_URL}; img-src data:`,
  )
  await next()
})
app.post('/sign-in', ownSignIn)
app.post('/bell-token', signedIn, async (context) =>
  context.json(await tokenFor(context.get('user'))),
)
/** The page calls `signOut()` of its client after this. In other browsers of the user, the page gets a new token. */
app.post('/sign-out', signedIn, async (context) => {
  ownSignOut(context)
  await producer.users.revokeTokens({ externalId: context.get('user').id })
  return context.body(null, 204)
})
app.get('/assets/*', serveStatic({ root: './dist/public' }))

app.get('/', async (context) => {
  const user = userOf(context)
  if (!user) return context.html(document(renderToString(<SignIn />)))
  const carillon = createCarillon({ baseUrl: CARILLON_URL, auth: () => tokenFor(user) })
  const initial = await carillon.inbox.list()
  const content = renderToString(
    <CarillonProvider carillon={carillon} initial={initial}>
      <Page carillon={carillon} />
    </CarillonProvider>,
  )
  return context.html(document(content, { carillonUrl: CARILLON_URL, initial }))
})

function document(content, props) {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>Tasks</title>
    <link rel="icon" href="data:,">
    ${props ? '<script type="module" src="/assets/browser.js"></script>' : ''}
  </head>
  <body>
    <div id="root">${content}</div>
    <script type="application/json" id="props">${jsonInHtml(props ?? null)}</script>
  </body>
</html>`
}

/** A text with `</script>` in a notification must not end the script element. */
function jsonInHtml(value) {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}

serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}`)
})
