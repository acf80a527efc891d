// Measures how fast mails leave when many timers are due at once, beside a bare loop that sends as many mails by the same library. Both send to a mail
// server in a process of this machine.
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { createTransport } from 'nodemailer'
import { startMailServerApart } from '../../tests/support/network/mail-server-apart.ts'
import { requestText } from '../load/requests.ts'
import { inTurns } from '../report/rounds.ts'
import { row } from '../report/rows.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { deliveryTo, prepare, sendAll } from '../setup/inboxes.ts'
import { databaseIn, startService } from '../setup/service.ts'

const users = 10_000
const inRequest = 1_000
const target = 0.3

export const dueMails: Scenario = {
  name: 'due-mails',
  question: '10,000 mails that are due at once on SQLite, beside a loop of nodemailer',
  async run(bench) {
    const count = bench.scaled(users)
    const sink = await startMailServerApart()
    bench.onEnd(async () => void (await sink.stop()))
    const taken = await inTurns<'due' | 'bare', number>(bench, {
      due: () => rateOfDue(bench, sink, count),
      bare: () => rateOfLoop(sink, count),
    })
    const as = (rate: number) => `${Math.round(rate)}/s`
    const what = `mails of ${count} timers that are due at once`
    const figure = (rate: number) => rate
    return [row({ what, of: taken.due, floor: taken.bare, figure, as, min: target })]
  },
}

type Sink = Awaited<ReturnType<typeof startMailServerApart>>

/** Mails a second, from the first one to the last. */
async function arrivals({ mails }: Sink, count: number): Promise<number> {
  const before = mails.length
  while (mails.length === before) await pause(1)
  const startedAt = performance.now()
  while (mails.length < before + count) await pause(1)
  return (count / (performance.now() - startedAt)) * 1_000
}

async function rateOfDue(bench: Bench, sink: Sink, count: number): Promise<number> {
  const dir = mkdtempSync(join(bench.dir, 'due-'))
  const mailing = (url: string) => ({ CARILLON_SMTP_URL: url, CARILLON_MAIL_UNREAD: '5m' })
  const filled = await startService(bench, { dir, settings: mailing('smtp://127.0.0.1:9') })
  const { readers, producer } = await prepare(filled, { users: count, signedIn: 0 })
  for (let from = 0; from < count; from += inRequest) {
    const some = readers.slice(from, from + inRequest)
    const entries = some.map(({ username }) => {
      return { externalId: username, email: `${username}@example.org`, emailVerified: true }
    })
    const body = JSON.stringify({ users: entries })
    await sendAll(filled.port, [requestText('PUT', '/api/users', { proof: producer, body })], 200)
    await sendAll(filled.port, [deliveryTo(some, producer)], 201)
  }
  await filled.stop()
  const database = new DatabaseSync(databaseIn(dir))
  database.exec(
    `update notification set created_at = '2026-01-01T00:00:00.000Z'; update reminder set due_at = 0`,
  )
  database.close()
  const sending = await startService(bench, { dir, settings: mailing(sink.url) })
  const rate = await arrivals(sink, count)
  await sending.stop()
  return rate
}

async function rateOfLoop(sink: Sink, count: number): Promise<number> {
  const { hostname: host, port } = new URL(sink.url)
  const transport = createTransport({
    host,
    port: Number(port),
    pool: true,
    maxConnections: 4,
    // The service accepts any certificate of a mail server on this machine, too.
    tls: { rejectUnauthorized: false },
  })
  const text = 'You have one unread notification.\n'.repeat(20)
  const mail = { from: 'a@example.org', to: 'b@example.org', subject: '1 unread notification' }
  const rate = arrivals(sink, count)
  const numbers = Array.from({ length: count }, (_, n) => n).values()
  const work = async () => {
    for (const _ of numbers) await transport.sendMail({ ...mail, text, html: `<p>${text}</p>` })
  }
  await Promise.all(Array.from({ length: 4 }, work))
  transport.close()
  return rate
}
