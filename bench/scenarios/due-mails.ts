// Measures how fast mails leave when many timers are due at once, beside a bare loop that sends as many mails by the same library. Both send to a mail
// server in a process of this machine. Also the lists by others meanwhile, and the memory.
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { createTransport } from 'nodemailer'
import { startMailServerApart } from '../../tests/support/network/mail-server-apart.ts'
import { Loader } from '../load/load.ts'
import { requestText } from '../load/requests.ts'
import { residentMegabytes } from '../processes/of-process.ts'
import { inTurns } from '../report/rounds.ts'
import { p99Row, row } from '../report/rows.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asMegabytes } from '../report/table.ts'
import { deliveryTo, prepare, type Reader, requestsOf, sendAll } from '../setup/inboxes.ts'
import { databaseIn, startService } from '../setup/service.ts'
import { firstPage, listsOfOthers } from './list.ts'

const users = 10_000
const inRequest = 1_000
const targets = { rate: 0.3, listsMs: 20, memory: 1.25 }

export const dueMails: Scenario = {
  name: 'due-mails',
  question: '10,000 mails that are due at once on SQLite, beside a loop of nodemailer',
  async run(bench) {
    const count = bench.scaled(users)
    const sink = await startMailServerApart()
    bench.onEnd(async () => void (await sink.stop()))
    const lister = new Loader(bench)
    const { due, bare } = await inTurns<'due' | 'bare', number>(bench, {
      due: () => rateOfDue(bench, sink, count),
      bare: () => rateOfLoop(sink, count),
    })
    const { lists } = await inTurns(bench, {
      lists: () => listsBeside(bench, { sink, count, lister }),
    })
    const mails = `mails of ${count} timers that are due at once`
    return [
      row({ what: mails, of: due, floor: bare, figure, as: asRate, min: targets.rate }),
      p99Row({
        what: 'p99 of lists by others while these mails leave',
        of: lists.map(({ beside }) => beside),
        floor: lists.map(({ alone }) => alone),
        max: targets.listsMs,
      }),
      row({
        what: 'resident memory after the last of these mails, beside that after a tenth',
        of: lists.map(({ last }) => last),
        floor: lists.map(({ first }) => first),
        figure,
        as: asMegabytes,
        max: targets.memory,
      }),
    ]
  },
}

const figure = (one: number) => one
const asRate = (rate: number) => `${Math.round(rate)}/s`

type Sink = Awaited<ReturnType<typeof startMailServerApart>>

/** Mails a second, from the first one to the last. */
async function arrivals({ mails }: Sink, count: number): Promise<number> {
  const before = mails.length
  while (mails.length === before) await pause(1)
  const startedAt = performance.now()
  while (mails.length < before + count) await pause(1)
  return (count / (performance.now() - startedAt)) * 1_000
}

const mailing = (url: string) => ({ CARILLON_SMTP_URL: url, CARILLON_MAIL_UNREAD: '5m' })

/** The first of the returned readers has no address and is signed in. */
async function fill(bench: Bench, count: number): Promise<{ dir: string; readers: Reader[] }> {
  const dir = mkdtempSync(join(bench.dir, 'due-'))
  const filled = await startService(bench, { dir, settings: mailing('smtp://127.0.0.1:9') })
  const prepared = await prepare(filled, { users: count + 1, proofs: 1, signedIn: 1 })
  const { readers, producer } = prepared
  for (let from = 1; from < readers.length; from += inRequest) {
    const some = readers.slice(from, from + inRequest)
    const entries = some.map(({ username }) => {
      return { externalId: username, email: `${username}@example.org`, emailVerified: true }
    })
    const body = JSON.stringify({ users: entries })
    await sendAll(filled.port, [requestText('PUT', '/api/users', { proof: producer, body })], 200)
    await sendAll(filled.port, [deliveryTo(some, producer)], 201)
  }
  await filled.stop()
  return { dir, readers }
}

function makeDue(dir: string): void {
  using database = new DatabaseSync(databaseIn(dir))
  database.exec(
    `update notification set created_at = '2026-01-01T00:00:00.000Z'; update reminder set due_at = 0`,
  )
}

async function rateOfDue(bench: Bench, sink: Sink, count: number): Promise<number> {
  const { dir } = await fill(bench, count)
  makeDue(dir)
  const sending = await startService(bench, { dir, settings: mailing(sink.url) })
  const rate = await arrivals(sink, count)
  await sending.stop()
  return rate
}

type Beside = { sink: Sink; count: number; lister: Loader }

/** `first`, `last`: megabytes after a tenth of the mails, and after all. */
async function listsBeside(bench: Bench, { sink, count, lister }: Beside) {
  const { dir, readers } = await fill(bench, count)
  const { seconds } = bench
  const requests = requestsOf(readers.slice(0, 1), 'cookies', firstPage)
  const listing = { ...listsOfOthers, requests, seconds, warmUpSeconds: seconds / 4 }
  const settings = mailing(sink.url)
  const waiting = await startService(bench, { dir, settings })
  const alone = await lister.measure(waiting, listing)
  await waiting.stop()
  makeDue(dir)
  const before = sink.mails.length
  const sending = await startService(bench, { dir, settings })
  const until = async (sent: number) => {
    while (sink.mails.length < before + sent) await pause(1)
    return residentMegabytes(sending.process.pid)
  }
  const first = await until(count / 10)
  const beside = await lister.measure(sending, listing)
  const last = await until(count)
  await sending.stop()
  return { alone, beside: { ...beside, otherProgramsShare: 0 }, first, last }
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
