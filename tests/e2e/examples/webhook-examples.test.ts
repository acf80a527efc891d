// The examples that receive webhooks, beside a real service: the mailer of an application, and with SOAK=1 the one in Python.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../support/network/free-port.ts'
import { startExample } from '../../support/processes/example-application.ts'
import { startTestService } from '../../support/service.ts'
import { soakTest } from '../../support/soak.ts'

/** A service with a webhook to a port of this machine. Its clock is that of the example, which checks timestamps. */
async function serviceWith(port: number) {
  const service = await startTestService({ env: { CARILLON_OUTBOUND_PRIVATE: 'on' } })
  service.pass(Date.now() - service.now())
  const { key } = await service.producerKey(['send', 'users', 'webhooks'])
  const proof = { authorization: `Bearer ${key}` }
  const url = `http://127.0.0.1:${port}/carillon`
  const webhook = { url, events: ['notification.unread'], unreadAfter: 0 }
  const { secret } = (await service.post('/api/webhooks', webhook, proof)).json().data
  const send = async (title: string) => {
    const recipients = [{ externalId: 'customers/ann' }]
    assert.equal(
      (await service.post('/api/notifications', { recipients, title, url: '/orders/7' }, proof))
        .status,
      201,
    )
  }
  return { service, secret, send }
}

test('the mailer of an application mails what a user has not read, and refuses what it cannot verify', async () => {
  const port = await freePort()
  const { service, secret, send } = await serviceWith(port)
  await using example = await startExample('webhook-mailer', {
    PORT: `${port}`,
    WEBHOOK_SECRET: secret,
  })
  try {
    await send('Your tea is ready')
    const mails = async () => (await fetch(`${example.url}/mails`)).json() as Promise<object[]>
    while ((await mails()).length === 0) await sleep(20)
    const mail = { to: 'ann@example.org', subject: '1 unread', text: 'Your tea is ready /orders/7' }
    assert.deepEqual(await mails(), [mail])
    const forged = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    assert.equal((await fetch(`${example.url}/carillon`, forged)).status, 401)
  } finally {
    await service.stop()
  }
})

soakTest(
  'the receiver in Python verifies events by the package of Standard Webhooks',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    execFileSync('python3', ['-m', 'venv', folder])
    execFileSync(join(folder, 'bin/pip'), ['--quiet', 'install', 'standardwebhooks==1.1.0'])
    const port = await freePort()
    const { service, secret, send } = await serviceWith(port)
    const env = { PORT: `${port}`, WEBHOOK_SECRET: secret }
    const child = spawn(join(folder, 'bin/python'), ['examples/python/webhook.py'], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    t.after(async () => {
      child.kill('SIGKILL')
      await service.stop()
    })
    const lines = createInterface(child.stdout)
    await once(lines, 'line')
    const line = once(lines, 'line')
    await send('Your tea is ready')
    assert.deepEqual(await line, ['customers/ann Your tea is ready'])
  },
)
