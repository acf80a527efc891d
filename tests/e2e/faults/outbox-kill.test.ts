// When a kill interrupts the sending of mails, pushes and events, everything arrives, at most what
// was being sent arrives twice, and nothing is sent of what was read before it was due.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { hashOf } from '../../../server/basics/secrets.ts'
import { readDatabaseUrl } from '../../../server/config/database-url.ts'
import { type Person, World } from '../../../server/contract/world.ts'
import { markRead } from '../../../server/inbox/marks.store.ts'
import { openStore } from '../../../server/open-store.ts'
import { listOutbox } from '../../../server/reach/outbox.store.ts'
import { addSubscription } from '../../../server/reach/push/subscriptions.store.ts'
import { dueReminders } from '../../../server/reach/timers/decision.store.ts'
import type { Store } from '../../../server/store/store.ts'
import { updateUser } from '../../../server/users/users.store.ts'
import { MailServer, type ReceivedMail, shownMail } from '../../support/network/mail-server.ts'
import { PushService } from '../../support/network/push-service.ts'
import { WebhookReceiver } from '../../support/network/webhook-receiver.ts'
import { newDatabase } from '../../support/postgres.ts'
import {
  CarillonProcess,
  carillon,
  type Environment,
  Folder,
  settingsFor,
} from '../../support/processes/carillon-process.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { isSoak } from '../../support/soak.ts'

/** Of one host and process. */
const inFlight = 4
const people = 24
const unreadMs = 5 * 60_000

/** What left the service arrives here. */
class Receivers {
  readonly mails: MailServer
  readonly pushes: PushService
  readonly webhooks: WebhookReceiver

  private constructor(mails: MailServer, pushes: PushService, webhooks: WebhookReceiver) {
    this.mails = mails
    this.pushes = pushes
    this.webhooks = webhooks
  }

  static async start(t: TestContext): Promise<Receivers> {
    const mails = await MailServer.start()
    const pushes = await PushService.start()
    const webhooks = await WebhookReceiver.start()
    t.after(() => Promise.all([mails.stop(), pushes.stop(), webhooks.stop()]))
    return new Receivers(mails, pushes, webhooks)
  }

  get settings(): Environment {
    return {
      CARILLON_SMTP_URL: this.mails.url,
      CARILLON_MAIL_UNREAD: '5m',
      CARILLON_MAIL_CONTENT: 'titles',
      CARILLON_PUSH_HOSTS: this.pushes.host,
      CARILLON_PUSH_DELAY: '0',
      CARILLON_OUTBOUND_PRIVATE: 'on',
    }
  }

  get counts(): number[] {
    return [this.mails.mails.length, this.pushes.requests, this.webhooks.received.length]
  }
}

type Reader = { id: string; address: string; endpoint: string }
type Sent = { reader: Reader; notification: string; title: string; isRead: boolean }

async function addReader(world: World, person: Person, pushes: PushService): Promise<Reader> {
  const { store } = world
  const { id } = person
  const address = `${id}@example.org`
  const now = Date.now()
  await store.write(updateUser, { userId: id, email: address, emailVerifiedAt: now })
  const { endpoint, keys } = pushes.subscribe()
  await world.signIn(person, { signInId: `sign-in of ${id}` })
  const subscription = {
    id: hashOf(endpoint),
    ownerId: id,
    signInId: `sign-in of ${id}`,
    endpoint,
    ...keys,
    url: 'https://bell.example.org/inbox',
    device: null,
    factor: null,
    at: now,
  }
  assert.equal(await store.write(addSubscription, subscription), 'done')
  return { id, address, endpoint }
}

/** One notification to each reader. A third of them is read before anything is due. */
async function deliver(world: World, readers: readonly Reader[], title: string): Promise<Sent[]> {
  const { results } = await world.deliver({
    to: readers.map(({ id }) => ({ userId: id })),
    title,
    at: Date.now() - unreadMs,
    mailUnread: '5m',
    pushDelayMs: 0,
    watch: { marks: false, arrivals: false, unreadAfterMs: 0 },
  })
  const sent: Sent[] = []
  for (const [n, reader] of readers.entries()) {
    const notification = results[n]?.id ?? assert.fail()
    const isRead = n % 3 === 0
    const { store } = world
    if (isRead) await store.write(markRead, { userId: reader.id, id: notification, at: Date.now() })
    sent.push({ reader, notification, title, isRead })
  }
  return sent
}

type Run = { url: string; nodes: number; rounds: number }

async function killWhileSending(t: TestContext, { url, nodes, rounds }: Run): Promise<void> {
  using folder = new Folder()
  const receivers = await Receivers.start(t)
  const { pushes, webhooks } = receivers
  const env = {
    ...receivers.settings,
    CARILLON_FIRST_START: 'off',
    CARILLON_SECRET: 'the same at each start, and long enough',
    CARILLON_DATABASE_URL: url === '' ? (settingsFor(folder).CARILLON_DATABASE_URL ?? '') : url,
  }
  const open = async () => (await openStore(readDatabaseUrl(env.CARILLON_DATABASE_URL))).store
  // The first start makes the keys.
  const first = await CarillonProcess.ready(folder, { env })
  await first.end('SIGTERM')
  const world = await World.on(await open())
  t.after(() => world.store.close().catch(() => {}))
  const persons = await world.addUsers(people)
  const readers = await Promise.all(persons.map((one) => addReader(world, one, pushes)))
  await world.store.close()
  const event = ['--event', 'notification.unread', '--unread-after', '0']
  const added = await carillon(folder, ['webhook', 'add', ...event, '--url', webhooks.url], { env })
  assert.equal(added.status, 0, added.stderr)
  const sent: Sent[] = []
  for (let round = 0; round < rounds; round++) {
    world.store = await open()
    sent.push(...(await deliver(world, readers, `title-${round}.`)))
    await world.store.close()
    const before = receivers.counts
    const running = await Promise.all(
      Array.from({ length: nodes }, () => CarillonProcess.ready(folder, { env })),
    )
    await untilSo(async () => receivers.counts.some((count, n) => count > (before[n] ?? 0)))
    // The start sends what is left of the round before; the service looks at timers a second later.
    await sleep(randomInt(0, round % 2 === 0 ? 40 : 1_500))
    await running[0]?.end('SIGKILL')
    for (const other of running.slice(1)) await other.end('SIGTERM')
  }
  await using last = await CarillonProcess.ready(folder, { env })
  await untilSo(() => isDone(open))
  await last.end('SIGTERM')
  holds(sent, { receivers, rounds })
}

/** Neither a timer is due nor a row left. */
async function isDone(open: () => Promise<Store>): Promise<boolean> {
  const store = await open()
  const channels = ['mail', 'push', 'unread'] as const
  const due = await store.read(dueReminders, { channels, at: Date.now() })
  const rows = await store.read(listOutbox, { limit: 1 })
  await store.close()
  return due.length + rows.length === 0
}

type Outcome = { receivers: Receivers; rounds: number }

function holds(sent: readonly Sent[], { receivers, rounds }: Outcome): void {
  const { mails, pushes, webhooks } = receivers
  const mailed = mails.mails.map((mail) => ({ to: mail.to[0], ...shownMail(mail) }))
  for (const { reader, title, isRead } of sent)
    if (isRead)
      assert.ok(
        !mailed.some(({ to, text }) => to === reader.address && text.includes(`${title}\n`)),
      )
  holdsForMails(sent, mails)
  const arrivals: Record<string, (one: Sent) => boolean> = {
    push: ({ reader, notification }) =>
      pushes
        .pushesTo({ endpoint: reader.endpoint, keys: { p256dh: '', auth: '' } })
        .some(({ payload }) => payload.notification.data.ids.includes(notification)),
    event: ({ notification }) =>
      webhooks.received.some(({ body }) => body.includes(`"${notification}"`)),
  }
  for (const [channel, hasArrived] of Object.entries(arrivals)) {
    const wrong = sent.filter((one) => hasArrived(one) === one.isRead)
    assert.deepEqual(wrong, [], `each that was not read arrives as a ${channel}, and no other`)
  }
  const most = rounds * inFlight
  const mailIds = mails.mails.map(messageIdOf)
  const eventIds = webhooks.received.map(({ headers }) => headers['webhook-id'])
  for (const ids of [mailIds, eventIds]) {
    const repeated = ids.length - new Set(ids).size
    assert.ok(repeated <= most, `${repeated} mails or events arrived again`)
  }
  const unread = sent.filter(({ isRead }) => !isRead).length
  assert.ok(pushes.requests <= unread + most, `${pushes.requests} pushes`)
}

/** A mail has ten titles at most, and says how many notifications it is about. */
function holdsForMails(sent: readonly Sent[], { mails }: MailServer): void {
  const unread = sent.filter(({ isRead }) => !isRead)
  for (const [address, { length }] of Map.groupBy(unread, ({ reader }) => reader.address)) {
    const own = mails.filter(({ to }) => to[0] === address)
    // One that arrived again has the same id.
    const counts = new Map(
      own.map((mail) => [messageIdOf(mail), Number.parseInt(shownMail(mail).subject, 10)]),
    )
    assert.equal(
      counts.values().reduce((sum, count) => sum + count, 0),
      length,
      `each that was not read is in one mail to ${address}`,
    )
  }
}

function messageIdOf({ raw }: ReceivedMail): string | undefined {
  return /^Message-ID: (.+)$/im.exec(raw)?.[1]
}

const titleFor = (rounds: number) =>
  `killed ${rounds} times while it sends mails, pushes and events, the service sends each, repeats at most those that were being sent, and sends none that was read before`
const onSqlite = isSoak ? 100 : 2
const onPostgres = isSoak ? 200 : 2

test(`${titleFor(onSqlite)}, on SQLite`, async (t) => {
  await killWhileSending(t, { url: '', nodes: 1, rounds: onSqlite })
})

test(`${titleFor(onPostgres)}, with three nodes on PostgreSQL`, async (t) => {
  const { url, drop } = await newDatabase()
  t.after(drop)
  await killWhileSending(t, { url, nodes: 3, rounds: onPostgres })
})
