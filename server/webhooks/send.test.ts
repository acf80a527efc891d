// No request of a webhook reaches a private address, in whichever form it is written, and whatever a name or a redirect says (W1).
import assert from 'node:assert/strict'
import dns from 'node:dns'
import { once } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { after, test } from 'node:test'
import { WebhookReceiver } from '../../tests/support/network/webhook-receiver.ts'
import { poster } from './send.ts'

let connections = 0
const server = createServer((socket) => {
  connections++
  socket.destroy()
})
server.listen(0, '::')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
const receiver = await WebhookReceiver.start()
after(() => {
  server.close()
  receiver.stop()
})

const post = poster({ allowsPrivate: false })
const request = (url: string) => ({ url, headers: {}, body: '{}' })

const forms = [
  ...[
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '127.000.000.001',
    '0177.0.0.1',
    '0x7f.0.0.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
  ],
  ...[
    '127.0.0.2',
    '127.255.255.254',
    '0.0.0.0',
    '0',
    '0.1',
    '00000000',
    '0x0',
    '10.0.0.1',
    '10.255.1',
    '167772161',
    '172.16.0.1',
  ],
  ...[
    '172.31.255.255',
    '192.168.0.1',
    '192.168.257',
    '3232235777',
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '100.64.0.1',
  ],
  ...[
    '100.100.100.200',
    '192.0.0.192',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
  ],
  ...[
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
    '[::127.0.0.1]',
  ],
  ...[
    '[::ffff:169.254.169.254]',
    '[::ffff:10.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b::a9fe:a9fe]',
    '[2002:7f00:1::]',
    '[fe80::1]',
  ],
  ...[
    '[fc00::1]',
    '[fd00:ec2::254]',
    '[fec0::1]',
    '[ff02::1]',
    '[2001:db8::1]',
    '[2001::1]',
    '[100::1]',
    '[::ffff:0:127.0.0.1]',
  ],
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    '127.0.0.1.',
    '１２７.0.0.1',
    '127。0。0。1',
    '%31%32%37.0.0.1',
  ],
]

test('sixty forms of private addresses, and what names resolve to: 0 connections (W1)', async () => {
  assert.ok(forms.length >= 60)
  for (const host of forms)
    await assert.rejects(
      post(request(`https://${host}:${port}/`)),
      /private-address|name-not-found/,
      host,
    )
  assert.equal(connections, 0)
})

test('a name that resolves to a private address, also beside a public one or after it: 0 connections (W1)', async (t) => {
  const { lookup } = dns
  t.after(() => {
    dns.lookup = lookup
    syncBuiltinESMExports()
  })
  const publicOne = { address: '192.0.66.2', family: 4 }
  const privateOne = { address: '127.0.0.1', family: 4 }
  let answers = [[privateOne]]
  const answer = (_: string, options: { all?: boolean }, done: (...args: unknown[]) => void) => {
    const found = answers.shift() ?? []
    if (options.all) done(null, found)
    else done(null, found[0]?.address, found[0]?.family)
  }
  dns.lookup = answer as unknown as typeof dns.lookup
  syncBuiltinESMExports()
  await assert.rejects(post(request(`https://shop.example:${port}/`)), {
    message: 'private-address',
  })
  answers = [[{ address: '::7f00:1', family: 6 }]]
  await assert.rejects(post(request(`https://shop.example:${port}/`)), {
    message: 'private-address',
  })
  answers = [[publicOne, privateOne]]
  await assert.rejects(post(request(`https://shop.example:${port}/`)), {
    message: 'private-address',
  })
  // A check of the name before the request would see the first one: there is none, and the connection sees what it connects to.
  answers = [[privateOne], [publicOne]]
  await assert.rejects(post(request(`https://shop.example:${port}/`)), {
    message: 'private-address',
  })
  assert.equal(connections, 0)
})

test('a redirect is not followed, and no plain HTTP is sent (W1)', async () => {
  receiver.answer = (_, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end()
  await assert.rejects(poster({ allowsPrivate: true })(request(receiver.url)), {
    message: 'status-307',
  })
  await assert.rejects(post(request(`http://192.0.66.2:${port}/`)), { message: 'not-https' })
  assert.equal(connections, 0)
})

test('of a large response 64 KB are read, and a server that never responds has a limited time', async () => {
  let written = 0
  receiver.answer = (_, response) => {
    response.writeHead(200)
    const chunk = Buffer.alloc(16_384)
    const fill = () => {
      while (!response.destroyed && written < 10_000_000 && response.write(chunk))
        written += chunk.length
      if (!response.destroyed && written < 10_000_000) response.once('drain', fill)
    }
    fill()
  }
  await poster({ allowsPrivate: true })(request(receiver.url))
  assert.ok(written < 5_000_000, `${written}`)
  receiver.answer = () => {}
  await assert.rejects(poster({ allowsPrivate: true, timeoutMs: 100 })(request(receiver.url)), {
    message: 'timeout',
  })
  receiver.answer = (_, response) => response.writeHead(200).write('.')
  await assert.rejects(poster({ allowsPrivate: true, timeoutMs: 100 })(request(receiver.url)), {
    message: 'timeout',
  })
})
