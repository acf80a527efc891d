// An application that mails its users itself what they have not read. Carillon waits, and sends one signed request for each user.
import express from 'express'
import { Webhook } from 'standardwebhooks'
import { addressOf, mail, mails } from './own-mailer.js'

const { WEBHOOK_SECRET = '', PORT = '3000' } = process.env
const webhook = new Webhook(WEBHOOK_SECRET)
/** Carillon sends an event again if it gets no response. A database in production. */
const done = new Set()
const app = express()

// The signature is that of the bytes: they are parsed after the check.
app.post('/carillon', express.text({ type: 'application/json' }), async (request, response) => {
  let event
  try {
    event = webhook.verify(request.body, request.headers)
  } catch {
    return response.status(401).end()
  }
  if (event.type === 'notification.unread' && !done.has(event.id)) {
    const { user, items, more } = event.data
    const lines = items.map(({ title, url }) => `${title} ${url ?? ''}`)
    await mail(addressOf(user.externalId), `${items.length + more} unread`, lines.join('\n'))
    done.add(event.id)
  }
  response.status(204).end()
})

app.get('/mails', (_request, response) => response.json(mails))
app.listen(Number(PORT), '127.0.0.1', function listening() {
  console.log(`http://127.0.0.1:${this.address().port}`)
})
