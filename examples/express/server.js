// A shop with its own users, and a bell for them. Page, shop and Carillon have one origin: Carillon is below /bell/.
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { carillon, userPath } from './carillon.js'
import { ownSignIn, signedIn } from './own-sign-in.js'
import { passTo } from './proxy.js'

const { CARILLON_URL = 'http://127.0.0.1:7464', PORT = '3000' } = process.env
const clientFolder = dirname(fileURLToPath(import.meta.resolve('carillon-client')))

const app = express()
// In production the proxy in front does this: docs/integrate.md, "One origin".
app.use('/bell', passTo(CARILLON_URL))
app.use(express.json())
app.use(ownSignIn)

/** The page of a signed-in user gets a token that opens this user's inbox, and nothing else, for 15 minutes. */
app.post('/bell-token', signedIn, async (request, response) => {
  const { id, name } = request.user
  await carillon('PUT', userPath(id), { displayName: name })
  response.json(await carillon('POST', `${userPath(id)}/tokens`, { scope: 'inbox' }))
})

/** Something happens in the shop, and a user gets a notification, also one who never had a token. */
app.post('/orders', signedIn, async (request, response) => {
  const { to = request.user.id, item } = request.body
  const recipients = [{ externalId: to }]
  await carillon('POST', '/api/notifications', { recipients, title: `${item} is on its way`, url: '/orders' })
  response.status(201).json({})
})

app.use('/carillon-client', express.static(clientFolder))
app.use(express.static(fileURLToPath(new URL('public', import.meta.url))))
app.listen(Number(PORT), '127.0.0.1', function listening() {
  console.log(`http://127.0.0.1:${this.address().port}`)
})
