// Another host under the same domain cannot plant a session cookie or lock out a signed-in user. A
// browser accepts any byte from 0x80 on in a cookie's name, so `__Host-` protects only names
// without such a byte.
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:net'
import { after, test } from 'node:test'
import { Chromium } from '../../support/chromium.ts'
import { listening } from '../../support/network/free-port.ts'
import { startTestService } from '../../support/service.ts'

const domain = 'bell.localhost'
const service = await startTestService({ env: { CARILLON_PUBLIC_URL: `https://${domain}` } })
const sibling = await startSibling()
after(async () => {
  sibling.server.close()
  await service.stop()
})

/**
 * Sends the given Set-Cookie lines byte for byte, and records the Cookie lines that it receives.
 */
async function startSibling() {
  const state = { planted: [] as string[], received: [] as string[] }
  const server: Server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.once('data', (request) => {
      state.received.push(
        ...(/^cookie: (.*)\r$/im.exec(request.toString('latin1'))?.[1] ?? '').split('; '),
      )
      const lines = state.planted
        .map((cookie) => `Set-Cookie: ${cookie}; Domain=${domain}; Path=/\r\n`)
        .join('')
      socket.end(
        Buffer.from(
          `HTTP/1.1 200 OK\r\n${lines}Content-Length: 2\r\nConnection: close\r\n\r\nhi`,
          'latin1',
        ),
      )
    })
  })
  return { server, port: await listening(server), state }
}

const bytes = [...Array.from({ length: 128 }, (_, i) => 0x80 + i), 0x09, 0x0b, 0x0c, 0x20, 0x7f]
const batches = Array.from({ length: Math.ceil(bytes.length / 30) }, (_, i) =>
  bytes.slice(i * 30, (i + 1) * 30),
)

test('in Chromium a sibling host signs no one in and locks no one out, with any byte around the name (S1)', async () => {
  const victim = await service.user('victim')
  const attacker = await service.user('attacker')
  const [own, planted] = await Promise.all(
    [victim, attacker].map(
      async (user) => (await service.signIn(user, 'stateful')).cookie?.split('=')[1] ?? '',
    ),
  )
  const servicePort = new URL(service.url).port
  let sent = 0
  for (const batch of batches) {
    await using browser = await Chromium.start()
    sibling.state.planted = batch.flatMap((byte) => {
      const character = String.fromCharCode(byte)
      return [`${character}__Host-carillon=${planted}`, `__Host-carillon${character}=${planted}`]
    })
    const page = await browser.page(`http://evil.${domain}:${sibling.port}/`)
    sibling.state.received = []
    await page.goto(`http://${domain}:${sibling.port}/`)
    sent += sibling.state.received.filter((cookie) => cookie.endsWith(planted ?? 'none')).length
    const restricted = `http://${domain}:${servicePort}/routeRestreinte`
    const signedOut = await page.goto(restricted)
    assert.equal(signedOut?.status(), 401, `a cookie of the sibling host signs in, in ${batch}`)
    await browser.context.addCookies([
      {
        name: '__Host-carillon',
        value: own ?? '',
        url: `https://${domain}/`,
        secure: true,
        httpOnly: true,
      },
    ])
    const signedIn = await page.goto(restricted)
    assert.equal(
      signedIn?.status(),
      200,
      `a cookie of the sibling host locks the user out, in ${batch}`,
    )
    assert.equal(JSON.parse((await signedIn?.text()) ?? '{}').data.username, 'victim')
  }
  // Chromium keeps every name that begins with such a byte. If it kept none, the test would prove nothing.
  assert.ok(sent >= 128, `the browser sent only ${sent} of the sibling's cookies`)
})
