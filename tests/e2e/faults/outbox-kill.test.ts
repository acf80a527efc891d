// When a kill interrupts the sending of mails, every mail arrives, and at most those in flight
// arrive twice.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newOrderedId } from '../../../server/basics/ids.ts'
import { readDatabaseUrl } from '../../../server/config/database-url.ts'
import { openStore } from '../../../server/open-store.ts'
import { addTestMail, listOutbox } from '../../../server/reach/outbox.store.ts'
import { MailServer } from '../../support/network/mail-server.ts'
import { newDatabase } from '../../support/postgres.ts'
import { CarillonProcess, Folder, settingsFor } from '../../support/processes/carillon-process.ts'
import { untilSo } from '../../support/processes/nodes.ts'

const rounds = process.env.SOAK === undefined ? 5 : 100
const inFlight = 4
const mailsOfRound = 40

async function onStore<Result>(
  url: string,
  work: (store: Awaited<ReturnType<typeof openStore>>['store']) => Promise<Result>,
): Promise<Result> {
  const { store } = await openStore(readDatabaseUrl(url))
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

async function killWhileSending(
  folder: Folder,
  { url, nodes }: { url: string; nodes: number },
): Promise<void> {
  const server = await MailServer.start()
  const env = {
    CARILLON_FIRST_START: 'off',
    CARILLON_SECRET: 'the same at each start, and long enough',
    CARILLON_DATABASE_URL: url,
    CARILLON_SMTP_URL: server.url,
  }
  const sent: string[] = []
  for (let round = 0; round < rounds; round++) {
    const addresses = Array.from(
      { length: mailsOfRound },
      (_, n) => `user${n}@round${round}.example`,
    )
    await onStore(url, async (store) => {
      const at = Date.now()
      await Promise.all(
        addresses.map((target) =>
          store.write(addTestMail, { id: newOrderedId(at), target, at, audit: [] }),
        ),
      )
    })
    sent.push(...addresses)
    const before = server.mails.length
    const running = await Promise.all(
      Array.from({ length: nodes }, () => CarillonProcess.ready(folder, { env })),
    )
    await untilSo(async () => server.mails.length > before)
    await sleep(randomInt(0, 40))
    await running[0]?.end('SIGKILL')
    for (const other of running.slice(1)) await other.end('SIGTERM')
  }
  await using running = await CarillonProcess.ready(folder, { env })
  await untilSo(() =>
    onStore(url, async (store) => (await store.read(listOutbox, { limit: 1 })).length === 0),
  )
  await running.end('SIGTERM')
  await server.stop()
  const counts = new Map<string, number>()
  for (const { to } of server.mails) counts.set(to[0] ?? '', (counts.get(to[0] ?? '') ?? 0) + 1)
  assert.deepEqual(
    sent.filter((address) => !counts.has(address)),
    [],
    'every mail arrives',
  )
  const repeated = [...counts.values()].filter((count) => count > 1)
  assert.ok(repeated.length <= rounds * inFlight, `${repeated.length} mails arrived more than once`)
  assert.ok(Math.max(...counts.values()) <= 1 + rounds)
}

const promised = `killed ${rounds} times while it sends mails, the service sends each, and repeats at most those that were being sent`

test(`${promised}, on SQLite`, async () => {
  using folder = new Folder()
  await killWhileSending(folder, { url: settingsFor(folder).CARILLON_DATABASE_URL ?? '', nodes: 1 })
})

test(`${promised}, with two nodes on PostgreSQL`, async (t) => {
  using folder = new Folder()
  const { url, drop } = await newDatabase()
  t.after(drop)
  await killWhileSending(folder, { url, nodes: 2 })
})
