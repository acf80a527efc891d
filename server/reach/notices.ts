// Users hear of sign-ins from new devices and of each change of a credential (OWASP ASVS 5.0,
// 6.3.7), the latter also by mail. Each notice comes from an audit entry: no change is recorded
// without one. Operators hear of what the service gave up.
import { setTimeout as sleep } from 'node:timers/promises'
import { entriesOf } from '../audit/audit.store.ts'
import { deviceLabel } from '../audit/entry.ts'
import { eventsForOperators } from '../audit/events.ts'
import { displayTime, iso } from '../basics/clock.ts'
import { messageOf } from '../basics/errors.ts'
import type { Log } from '../basics/log.ts'
import type { SeenDevice } from '../guessing/device-tokens.ts'
import type { Guesses } from '../guessing/guesses.ts'
import { mailWayOf } from '../inbox/reminders.store.ts'
import { languageFor, type TextsOf, textsOf } from '../pages/texts/texts.ts'
import { noteDevice } from '../sessions/sign-ins.store.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { listOperators } from '../users/access/roles.store.ts'
import { findUser } from '../users/users.store.ts'
import type { UserMail } from './mail.ts'
import type { OutboxRow } from './outbox.store.ts'
import type { Outbox } from './outbox.ts'

type Texts = TextsOf<'service'>['notices']
type NoticeKind = keyof Texts['titles']

/** A response waits at most this long for its notice. */
const maxDelayMs = 250
export type Notice = {
  title: string
  body: string
  url: string
  category: string
  icon: 'user' | 'info' | 'warning'
  data: Record<string, unknown>
}

export type NoticeOptions = {
  store: Store
  guesses: Pick<Guesses, 'beginNoticeMail'>
  now: () => number
  /** Delivers once for each `id`; returns false for a repetition. */
  deliver: (userId: string, notice: Notice, id: string) => Promise<boolean>
  ofNewDevices: boolean
  outbox: Pick<Outbox, 'join'> | undefined
  pagesUrl: () => string
  log: Log
}

export type ChangesMail = UserMail & { kind: 'changes' }

type NewDevice = { userId: string; signInId: string; address: string; at: number; from: SeenDevice }

export class Notices {
  readonly ofNewDevices: boolean
  readonly #options: NoticeOptions

  constructor(options: NoticeOptions) {
    this.#options = options
    this.ofNewDevices = options.ofNewDevices
    options.store.onRecorded(async (entries) => {
      await Promise.all(entries.map((entry) => this.note(entry)))
    })
  }

  /** Resolves soon. Every node may note a command's entry, but one delivers it. */
  async note(entry: AuditEntry): Promise<void> {
    const { userId } = entry
    if (eventsForOperators.has(entry.event)) {
      const fields = { event: 'change-not-notified', kinds: [entry.event] }
      return this.#briefly(this.#sendOperators(entry), fields)
    }
    const kinds = userId === null ? [] : kindsOf(entry)
    if (userId === null || kinds.length === 0) return
    const sent = Promise.all(kinds.map((kind) => this.#send(userId, kind, entry)))
    await this.#briefly(sent, { event: 'change-not-notified', userId, kinds })
  }

  /** Resolves soon. If it fails, the device's next sign-in sends the notice. */
  async noteDevice(device: NewDevice): Promise<void> {
    const { userId, signInId } = device
    await this.#briefly(this.#sendDevice(device), {
      event: 'new-device-not-notified',
      userId,
      signInId,
    })
  }

  async #briefly(
    sending: Promise<unknown>,
    fields: { event: string } & Record<string, unknown>,
  ): Promise<void> {
    const { log } = this.#options
    const problem = 'a user could not be notified'
    const sent = sending.catch((error: unknown) =>
      log.error({ ...fields, reason: messageOf(error) }, problem),
    )
    await Promise.race([sent, sleep(maxDelayMs, undefined, { ref: false })])
  }

  async #sendDevice({ userId, signInId, address, at, from }: NewDevice): Promise<void> {
    const { store, deliver, pagesUrl } = this.#options
    const user = await store.read(findUser, userId)
    const { notices: texts } = await textsOf('service', languageFor(undefined, user?.locale))
    const device = from.label || null
    const what = deviceIn(texts, device)
    const notice = {
      title: texts.newDevice(what),
      body: texts.newDeviceText(what, address),
      url: `${pagesUrl()}/account#session-${signInId}`,
      category: 'security',
      icon: 'user' as const,
      data: { sessionId: signInId, device, address, at: iso(at) },
    }
    await deliver(userId, notice, signInId)
    await store.write(noteDevice, { userId, device: { ...from, isKnown: true }, at })
  }

  async #sendOperators({ id, event, detail }: AuditEntry): Promise<void> {
    const { store, deliver, pagesUrl } = this.#options
    const { webhookId = '', reason = '' } = detail ?? {}
    for (const { id: userId, locale } of await store.read(listOperators)) {
      const { notices: texts } = await textsOf('service', languageFor(undefined, locale))
      const bodies = {
        'webhook-disabled': texts.webhookDisabled(String(webhookId), String(reason)),
        'mails-refused': texts.mailsRefused,
      }
      const kind = event as keyof typeof bodies
      const notice = {
        title: texts.titles[kind],
        body: bodies[kind],
        url: `${pagesUrl()}/operator#outbox`,
        category: 'operator',
        icon: 'warning' as const,
        data: { kind, auditId: id },
      }
      await deliver(userId, notice, `${id}.${userId}`)
    }
  }

  async #send(userId: string, kind: NoticeKind, entry: AuditEntry): Promise<void> {
    const { store, deliver, pagesUrl } = this.#options
    const user = await store.read(findUser, userId)
    // Without a username, a user signs in by neither name nor address.
    if (user === undefined || (user.username === null && entry.event === 'user-changed')) return
    const { notices: texts } = await textsOf('service', languageFor(undefined, user.locale))
    const { signInId, userAgent, address, at } = entry
    const content = { title: texts.titles[kind], body: bodyOf(texts, kind, entry) }
    const url = `${pagesUrl()}/account${signInId === null ? '' : `#session-${signInId}`}`
    const data = { kind, sessionId: signInId, device: deviceLabel(userAgent), address, at: iso(at) }
    const icon = kind === 'old-session-presented' ? 'warning' : 'info'
    const notice: Notice = { ...content, url, category: 'security', icon, data }
    if (!(await deliver(userId, notice, `${entry.id}.${kind}`))) return
    const isReached = (await store.read(mailWayOf, userId)) === 'on'
    const addresses = new Set([isReached ? user.email : null, entry.formerEmail ?? null])
    for (const to of addresses) if (to !== null) await this.#mail(userId, to, `${entry.id}.${kind}`)
  }

  /** Adds a row to the outbox, or the change to a waiting one. `joined`: the entry's id, kind. */
  async #mail(userId: string, to: string, joined: string): Promise<void> {
    const { now, outbox } = this.#options
    const at = now()
    await outbox?.join({ kind: 'notice', ownerId: userId, target: to, joined, dueAt: at, at })
  }

  /**
   * Throws TOO_MANY_REQUESTS beyond five mails an hour: the next mail has all changes. Undefined if
   * the user is gone.
   */
  async renderMail({
    ownerId: userId,
    target: to,
    ids,
    tries,
  }: OutboxRow): Promise<ChangesMail | undefined> {
    const { store, guesses, pagesUrl } = this.#options
    const user = await store.read(findUser, userId)
    if (user === undefined) return undefined
    const joined = (JSON.parse(ids) as string[]).map(
      (text) => text.split('.') as [id: string, kind: NoticeKind],
    )
    const found = await store.read(entriesOf, { userId, ids: joined.map(([id]) => id) })
    const entries = new Map(found.map((entry) => [entry.id, entry]))
    // A refused mail is counted once.
    if (tries === 0) await guesses.beginNoticeMail({ userId, to })
    const language = languageFor(undefined, user.locale)
    const { notices: texts } = await textsOf('service', language)
    const lines = joined.flatMap(([id, kind]) => {
      const entry = entries.get(id)
      if (entry === undefined) return []
      return [
        texts.titles[kind],
        `${bodyOf(texts, kind, entry)} (${displayTime(entry.at, language)})`,
      ]
    })
    const facts = { count: joined.length, title: lines[0] ?? '', lines }
    return { kind: 'changes', to, locale: user.locale, url: `${pagesUrl()}/account`, facts }
  }
}

/** Empty for an entry about no credential. A first password changes nothing. */
function kindsOf({ event, detail, actor }: AuditEntry): NoticeKind[] {
  if (event === 'password-reset') return detail?.isFirst === true ? [] : ['password-changed']
  if (event === 'factor-added')
    return [detail?.kind === 'passkey' ? 'passkey-added' : 'factor-added']
  const fields = String(detail?.fields).split(',')
  if (actor.startsWith('operator:') && (ofOperatorPage as readonly string[]).includes(event))
    return [event as NoticeKind]
  const names = event === 'user-changed' ? fields.map((field) => `${field}-changed`) : [event]
  return namedKinds.filter((kind) => names.includes(kind))
}

const ofOperatorPage = ['user-signed-out', 'user-disabled', 'user-enabled', 'link-created'] as const

const namedKinds: readonly NoticeKind[] = [
  'email-changed',
  'username-changed',
  'password-changed',
  'factor-removed',
  'factors-reset',
  'recovery-codes-created',
  'provider-linked',
  'provider-unlinked',
  'old-session-presented',
  'role-changed',
  'mail-stopped',
]

function deviceIn({ aBrowser, on, unknownDevice }: Texts, label: string | null): string {
  return label?.replace('A browser', aBrowser).replace(' on ', ` ${on} `) ?? unknownDevice
}

function bodyOf(texts: Texts, kind: NoticeKind, { actor, address, userAgent }: AuditEntry): string {
  if (kind === 'mail-stopped') return texts.mailStopped
  const [by = ''] = actor.split(':', 1)
  const others = {
    operator: texts.byOperator,
    producer: texts.byApplication,
    service: texts.byUnknown,
  }
  const byUser = () => texts.byUser(deviceIn(texts, deviceLabel(userAgent)), address ?? '')
  return `${others[by as keyof typeof others] ?? byUser()} ${kind === 'old-session-presented' ? texts.ended : texts.advice}`.trim()
}
