// While 200 requests a second guess the owner's password, flood the queue from one /56 and request
// links, the owner gets in on a known device, and by a one-time link (A20, A21).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { HttpClient } from '../../support/http/http-client.ts'
import { MailServer } from '../../support/network/mail-server.ts'
import { CarillonProcess, carillon, Folder } from '../../support/processes/carillon-process.ts'

const minuteMs = 60_000
const attackEveryMs = 50
const perRound = 10
const password = 'plum orchard gate 41'
const newPassword = 'grey heron over the weir'
const json = { 'content-type': 'application/json' }

/** Attacks until `end()`, for five minutes at most. */
function attack(url: string) {
  const client = new HttpClient(url, { connections: 200 })
  const statuses = new Map<number, number>()
  const running = new Set<Promise<void>>()
  let sent = 0
  const one = async () => {
    const n = ++sent
    const part = (n % 65_536).toString(16)
    const guess = (username: string) => ({
      path: '/login',
      body: { username, password: `plum orchard gate ${n}` },
    })
    const kinds = [
      { from: `198.18.${Math.floor(n / 256) % 256}.${n % 256}`, ...guess('ann') },
      { from: `2001:db8:${part}::1`, ...guess('ann') },
      { from: `2001:db8:56:${(n % 256).toString(16)}::${part}`, ...guess(`made up ${n}`) },
      { from: `2001:db8:aaaa:${part}::1`, path: '/password/forgot', body: { username: 'ann' } },
    ]
    const { from, path, body } = kinds[n % kinds.length] as (typeof kinds)[number]
    const headers = { ...json, 'x-forwarded-for': from }
    const { status } = await client.request({
      method: 'POST',
      path,
      headers,
      body: JSON.stringify(body),
    })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  const round = () => {
    if (sent >= 300_000 / (attackEveryMs / perRound)) return
    for (let n = 0; n < perRound && running.size < 1_000; n++) {
      const request = one()
        .catch(() => {})
        .finally(() => running.delete(request))
      running.add(request)
    }
  }
  const timer = setInterval(round, attackEveryMs)
  return {
    statuses,
    async end() {
      clearInterval(timer)
      await Promise.all(running)
      client.close()
    },
  }
}

test('an attacked owner is in within a minute, whatever the attacker does (A20, A21)', async (t) => {
  using folder = new Folder()
  const mailServer = await MailServer.start()
  t.after(() => mailServer.stop())
  const env = { CARILLON_TRUSTED_PROXIES: '127.0.0.1', CARILLON_SMTP_URL: mailServer.url }
  await using running = await CarillonProcess.ready(folder, { env })
  const user = (...args: string[]) =>
    carillon(folder, ['user', ...args], {
      env: { ...env, CARILLON_PUBLIC_URL: running.url },
      stdin: password,
    })
  await user('add', 'ann', '--email', 'ann@example.org', '--password-stdin')
  const post = async (path: string, body: object, more: Record<string, string> = {}) => {
    const headers = { ...json, 'x-forwarded-for': '203.0.113.7', ...more }
    const response = await fetch(running.url + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    const text = await response.text()
    const cookie = response.headers.getSetCookie().map((line) => line.split(';')[0])
    return { status: response.status, text, cookie: cookie.join('; ') }
  }
  /** A refusal is tried again, as a person does. */
  const timeOf = async (act: () => Promise<{ status: number; text: string }>) => {
    const from = performance.now()
    for (;;) {
      const { status, text } = await act()
      if (status < 300) return performance.now() - from
      assert.ok(performance.now() - from < minuteMs, `${status} ${text}`)
      await sleep(500)
    }
  }
  const home = await post('/login', { username: 'ann', password })
  assert.equal(home.status, 200, home.text)
  const attacker = attack(running.url)
  while ((attacker.statuses.get(429) ?? 0) < 100) await sleep(20)

  const known = await timeOf(() =>
    post('/login', { username: 'ann', password }, { cookie: home.cookie }),
  )
  let device = ''
  const byLink = await timeOf(async () => {
    const { status, text } = await post('/password/forgot', { username: 'ann' })
    assert.equal(status, 202, text)
    const made = JSON.parse((await user('link', 'ann', '--json')).stdout)
    const response = await post('/password/reset', {
      token: made.url.split('#')[1],
      newPassword,
      variant: 'stateful',
    })
    device = response.cookie
    return response
  })
  const again = await timeOf(() =>
    post('/login', { username: 'ann', password: newPassword }, { cookie: device }),
  )
  await attacker.end()
  const took = [known, byLink, again].map((ms) => `${Math.round(ms)} ms`)
  t.diagnostic(
    `known device, link, its device: ${took}; attacker ${JSON.stringify([...attacker.statuses])}`,
  )
  for (const ms of [known, byLink, again]) assert.ok(ms < minuteMs, `${took}`)
})
