// Lets the store decide, and renders a mail of what is still unread.
import { newOrderedId } from '../basics/ids.ts'
import type { Sealing } from '../basics/secrets.ts'
import type { MailRule } from '../inbox/mail-rules.ts'
import { localize, textFor } from '../inbox/notification-json.ts'
import { languageFor, textsOf } from '../pages/texts/texts.ts'
import type { Store } from '../store/store.ts'
import { findUser, type User } from '../users/users.store.ts'
import type { Mail } from './mail.ts'
import type { OutboxRow } from './outbox.store.ts'
import { decideMail, type Item, labelsOf, rulesOf, stillUnread } from './unread.store.ts'
import { type Group, type Picture, renderUnreadMail } from './unread-mail.ts'
import { unsubscribeToken } from './unsubscribe.ts'

type Options = {
  store: Store
  sealing: Sealing
  now: () => number
  mailUnread: MailRule
  /** The titles are the words of others. */
  hasTitles: boolean
  serviceName: string
  accent: string | undefined
  logo: Picture | undefined
  publicUrl: () => string
  /** The URL has no slash at its end. */
  pagesUrl: () => string
  onRows: () => void
}

export class UnreadMails {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  async decide(userId: string): Promise<void> {
    const { store, now, mailUnread, onRows } = this.#options
    const at = now()
    const count = await store.write(decideMail, { userId, at, mailUnread, rowId: newOrderedId(at) })
    if (count > 0) onRows()
  }

  /** Undefined if nothing is unread any more, or no mail reaches the user. */
  async render({ id: rowId, ownerId, ids }: OutboxRow): Promise<Mail | undefined> {
    const { store, sealing, now, hasTitles, publicUrl, pagesUrl, serviceName, accent, logo } =
      this.#options
    const user = await store.read(findUser, ownerId)
    if (user?.email == null || user.emailVerifiedAt === null || user.disabledAt !== null)
      return undefined
    const items = await store.read(stillUnread, { userId: ownerId, ids: JSON.parse(ids) })
    if (items.length === 0) return undefined
    const { mailUnread } = this.#options
    const { isMandatory } = await store.read(rulesOf, user, mailUnread)
    const labels = await store.read(labelsOf, user)
    const language = languageFor(undefined, user.locale)
    const names = items.map(({ category }) => category ?? '')
    const free = [...new Set(names)].filter((category) => !isMandatory(category))
    const hasUnsubscribe = publicUrl().startsWith('https:') && free.length > 0
    const token = hasUnsubscribe
      ? await unsubscribeToken(sealing, { userId: user.id, categories: free, at: now() })
      : ''
    const [only] = items.length === 1 ? items : []
    const mail = renderUnreadMail({
      language,
      texts: (await textsOf('service', language)).mails.unread,
      groups: grouped(items, { user, labels, hasTitles }),
      count: items.length,
      serviceName,
      accent,
      logo,
      itemId: only?.id,
      inboxUrl: `${pagesUrl()}/inbox`,
      settingsUrl: `${pagesUrl()}/account#notifications`,
      unsubscribeUrl: token && `${pagesUrl()}/unsubscribe?token=${token}`,
    })
    const references =
      only?.key == null ? undefined : sealing.mac('mail-threads', `${ownerId} ${only.key}`)
    return { ...mail, to: user.email, id: rowId, references }
  }
}

type Named = { user: User; labels: readonly { name: string; label: string }[]; hasTitles: boolean }

/** The newest notification of each category decides their order. */
function grouped(items: readonly Item[], { user, labels, hasTitles }: Named): Group[] {
  const known = new Map(labels.map(({ name, label }) => [name, label]))
  return [...Map.groupBy(items, ({ category }) => category)].map(([category, ones]) => {
    const label = known.get(category ?? '')
    return {
      label: label === undefined ? category : textFor(user.locale, JSON.parse(label)),
      count: ones.length,
      items: hasTitles ? ones.map((one) => ({ id: one.id, title: titleFor(user, one) })) : [],
    }
  })
}

export function titleFor(
  { locale }: Pick<User, 'locale'>,
  { title, look }: Pick<Item, 'title' | 'look'>,
): string {
  const members = [`"title":"${title}"`, look].filter(Boolean)
  return JSON.parse(localize(`{${members.join(',')}}`, locale)).title
}
