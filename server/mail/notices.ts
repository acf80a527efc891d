// Notifies users in their own inbox of a sign-in from a device that they have not used before, and of every change of a credential (OWASP
// ASVS 5.0, 6.3.7): these by mail to a verified address, too. The notice of a change is made from an entry of the audit log, so a change
// cannot be recorded without its notice. Each links to the account page, where the user can say that it was another person.
import { setTimeout as sleep } from 'node:timers/promises'
import { deviceLabel } from '../audit/entry.ts'
import { displayTime, iso } from '../basics/clock.ts'
import { CarillonError, messageOf } from '../basics/errors.ts'
import type { Log } from '../basics/log.ts'
import type { Guesses } from '../guessing/guesses.ts'
import { languageFor, type TextsOf, textsOf } from '../pages/texts/texts.ts'
import type { NewDevice } from '../sessions/finish-sign-in.ts'
import { noteDevice } from '../sessions/sign-ins.store.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { findUser } from '../users/users.store.ts'
import type { UserMail } from './mail.ts'

type Texts = TextsOf<'service'>['notices']
type NoticeKind = keyof Texts['titles']

/** The inbox usually has the notice when the request gets its response, and the response never waits longer for it. */
const maxDelayMs = 250
/** Changes of a user that wait for a mail at the end of the user's hour. The inbox has them all. */
const maxWaiting = 50

export type Notice = { title: string; body: string; url: string; category: string; data: Record<string, unknown> }

export type NoticeOptions = {
  store: Store
  guesses: Pick<Guesses, 'beginNoticeMail'>
  /** Delivers to one user, once for each `id`. Resolves with false if it was delivered before. */
  deliver: (userId: string, notice: Notice, id: string) => Promise<boolean>
  /** Whether users are notified of new devices. */
  ofNewDevices: boolean
  /** Undefined if the service sends no mail. */
  mail: ((mail: ChangesMail) => Promise<void>) | undefined
  pagesUrl: () => string
  log: Log
}

/** `at`: for a mail, which does not know the reader's time zone. */
type Change = { title: string; body: string; at: number }
export type ChangesMail = UserMail & { kind: 'changes' }
/** `count`: of all changes; `changes` has the last ones. */
type Mailed = { userId: string; locale: string | null; to: string; count: number; changes: Change[] }

export class Notices {
  readonly ofNewDevices: boolean
  readonly #options: NoticeOptions
  /** The mails that wait, by user and address. */
  readonly #waiting = new Map<string, Mailed>()

  constructor(options: NoticeOptions) {
    this.#options = options
    this.ofNewDevices = options.ofNewDevices
    options.store.onRecorded(async (entries) => {
      await Promise.all(entries.map((entry) => this.note(entry)))
    })
  }

  /** Resolves soon, whatever happens to the notice. Every node may note an entry of a command: one of them delivers it. */
  async note(entry: AuditEntry): Promise<void> {
    const { userId } = entry
    const kinds = userId === null ? [] : kindsOf(entry)
    if (userId === null || kinds.length === 0) return
    const sent = Promise.all(kinds.map((kind) => this.#send(userId, kind, entry)))
    await this.#briefly(sent, { event: 'change-not-notified', userId, kinds })
  }

  /** Resolves soon. If the notice cannot be delivered, the log says so, the device stays unknown, and its next sign-in sends one. */
  async noteDevice(device: NewDevice): Promise<void> {
    const { userId, signInId } = device
    await this.#briefly(this.#sendDevice(device), { event: 'new-device-not-notified', userId, signInId })
  }

  async #briefly(sending: Promise<unknown>, fields: { event: string } & Record<string, unknown>): Promise<void> {
    const { log } = this.#options
    const problem = 'a user could not be notified'
    const sent = sending.catch((error: unknown) => log.error({ ...fields, reason: messageOf(error) }, problem))
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
      data: { sessionId: signInId, device, address, at: iso(at) },
    }
    await deliver(userId, notice, signInId)
    await store.write(noteDevice, { userId, device: { ...from, isKnown: true }, at })
  }

  /** Sends the mails that wait. */
  async end(): Promise<void> {
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    await Promise.all(waiting.map((mailed) => this.#sendMail(mailed)))
  }

  async #send(userId: string, kind: NoticeKind, entry: AuditEntry): Promise<void> {
    const { store, deliver, pagesUrl } = this.#options
    const user = await store.read(findUser, userId)
    // A user without a username signs in by neither a name nor an address.
    if (user === undefined || (user.username === null && entry.event === 'user-changed')) return
    const { notices: texts } = await textsOf('service', languageFor(undefined, user.locale))
    const { signInId, userAgent, address, at } = entry
    const content = { title: texts.titles[kind], body: bodyOf(texts, kind, entry) }
    const url = `${pagesUrl()}/account${signInId === null ? '' : `#session-${signInId}`}`
    const data = { kind, sessionId: signInId, device: deviceLabel(userAgent), address, at: iso(at) }
    if (!(await deliver(userId, { ...content, url, category: 'security', data }, `${entry.id}.${kind}`))) return
    const addresses = new Set([user.emailVerifiedAt === null ? null : user.email, entry.formerEmail ?? null])
    for (const to of addresses)
      if (to !== null) void this.#mail({ userId, locale: user.locale, to, count: 1, changes: [{ ...content, at }] })
  }

  /** Five an hour for a user; the other changes of the hour wait for one mail at its end. Never throws. */
  async #mail(mailed: Mailed): Promise<void> {
    if (this.#options.mail === undefined || this.#append(mailed)) return
    try {
      await this.#options.guesses.beginNoticeMail(mailed)
    } catch (error) {
      if (error instanceof CarillonError && error.retryAfter !== undefined) this.#wait(mailed, error.retryAfter)
      else this.#logFailed(mailed, error)
      return
    }
    await this.#sendMail(mailed)
  }

  #wait(mailed: Mailed, seconds: number): void {
    // Another change may have begun to wait since.
    if (this.#append(mailed)) return
    const key = keyOf(mailed)
    this.#waiting.set(key, mailed)
    const sendLater = () => {
      if (this.#waiting.delete(key)) void this.#mail(mailed)
    }
    setTimeout(sendLater, seconds * 1_000).unref()
  }

  /** Adds the changes to the mail that waits; false if none does. Beyond the maximum the newest takes the last place: it may matter most. */
  #append(mailed: Mailed): boolean {
    const waiting = this.#waiting.get(keyOf(mailed))
    if (waiting === undefined) return false
    if (waiting.changes.length >= maxWaiting) waiting.changes.pop()
    waiting.changes.push(...mailed.changes)
    waiting.count += mailed.count
    return true
  }

  async #sendMail(mailed: Mailed): Promise<void> {
    const { mail, pagesUrl } = this.#options
    const { to, locale, count, changes } = mailed
    const language = languageFor(undefined, locale)
    try {
      const lines = changes.flatMap(({ title, body, at }) => [title, `${body} (${displayTime(at, language)})`])
      const facts = { count, title: changes[0]?.title ?? '', lines }
      await mail?.({ kind: 'changes', to, locale, url: `${pagesUrl()}/account`, facts })
    } catch (error) {
      this.#logFailed(mailed, error)
    }
  }

  #logFailed({ userId, count }: Mailed, error: unknown): void {
    const fields = { event: 'mail-failed', userId, changes: count, reason: messageOf(error) }
    this.#options.log.warn(fields, 'the mail about a change of an account was not sent; the inbox has the notice')
  }
}

const keyOf = ({ userId, to }: Mailed) => `${userId} ${to}`

/** Empty for an entry that is about no credential. A first password is nothing that changed. */
function kindsOf({ event, detail }: AuditEntry): NoticeKind[] {
  if (event === 'password-reset') return detail?.isFirst === true ? [] : ['password-changed']
  if (event === 'factor-added') return [detail?.kind === 'passkey' ? 'passkey-added' : 'factor-added']
  const fields = String(detail?.fields).split(',')
  const names = event === 'user-changed' ? fields.map((field) => `${field}-changed`) : [event]
  return namedKinds.filter((kind) => names.includes(kind))
}

/** The kinds that have the name of an event or a field. */
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
]

/** A label is `<browser> on <system>`, or the name of a program. */
function deviceIn({ aBrowser, on, unknownDevice }: Texts, label: string | null): string {
  return label?.replace('A browser', aBrowser).replace(' on ', ` ${on} `) ?? unknownDevice
}

/** Who did it, from where, and what to do if it is a surprise. The inbox displays when, in the reader's time. */
function bodyOf(texts: Texts, kind: NoticeKind, { actor, address, userAgent }: AuditEntry): string {
  const [by = ''] = actor.split(':', 1)
  const others = { operator: texts.byOperator, producer: texts.byApplication, service: texts.byUnknown }
  const byUser = () => texts.byUser(deviceIn(texts, deviceLabel(userAgent)), address ?? '')
  return `${others[by as keyof typeof others] ?? byUser()} ${kind === 'old-session-presented' ? texts.ended : texts.advice}`.trim()
}
