// A mail about what is still unread when it leaves.

import { iso } from '../../basics/clock.ts'
import { textFor } from '../../inbox/notification-json.ts'
import { languageFor, textsOf } from '../../pages/texts/texts.ts'
import { rulesOf } from '../../preferences/preferences.store.ts'
import { findUser } from '../../users/users.store.ts'
import { itemsOf, titleFor, unreadOf } from '../items.store.ts'
import type { Mail } from '../mail.ts'
import type { OutboxRow } from '../outbox.store.ts'
import type { ReachOptions } from '../reach-options.ts'
import { renderUnreadMail } from './unread-mail.ts'
import { unsubscribeToken } from './unsubscribe.ts'

const maxTitles = 10

/** Undefined if nothing is unread and wanted, or no mail reaches the user. */
export async function unreadMailOf(
  { store, sealing, clock, config, url, logo }: ReachOptions,
  { ownerId: userId, ids }: OutboxRow,
): Promise<Mail | undefined> {
  const { pagesName: serviceName, accent, mailContent, mailUnread } = config
  const user = await store.read(findUser, userId)
  if (user?.email == null || user.emailVerifiedAt === null || user.disabledAt !== null)
    return undefined
  const now = clock.now()
  const newestFirst = (JSON.parse(ids) as string[]).toReversed()
  const unread = await store.read(unreadOf, { userId, ids: newestFirst })
  const found = await store.read(itemsOf, { userId, ids: unread })
  const { declared, ruleOf, isMuted } = await store.read(rulesOf, user, mailUnread, iso(now))
  const items = unread
    .flatMap((id) => found.get(id) ?? [])
    .filter(({ category }) => ruleOf(category) !== 'off' && !isMuted(category))
  if (items.length === 0) return undefined
  const language = languageFor(undefined, user.locale)
  const texts = (await textsOf('service', language)).mails.unread
  const pagesUrl = url() + config.pagesPrefix
  // The browser sends no fragment, so a program that follows the link marks nothing as read.
  const linkTo = (id: string) => `${pagesUrl}/inbox#${id}`
  // Titles are the words of others.
  const titled = new Set(mailContent === 'titles' ? items.slice(0, maxTitles) : [])
  // Each category's newest notification decides their order.
  const byCategory = Map.groupBy(items, ({ category }) => category ?? '')
  const sections = Array.from(byCategory, ([category, ones]) => {
    const label = declared.get(category)?.label
    return {
      label: label ? textFor(user.locale, JSON.parse(label)) : category || texts.others,
      count: ones.length,
      links: ones.flatMap((one) =>
        titled.has(one) ? [{ title: titleFor(user, one), url: linkTo(one.id) }] : [],
      ),
    }
  })
  const more = titled.size === 0 ? 0 : items.length - titled.size
  const ends = [{ title: texts.settings, url: `${pagesUrl}/account#notifications` }]
  const categories = [...byCategory.keys()].filter((name) => declared.get(name)?.mandatory !== 1)
  const hasUnsubscribe = pagesUrl.startsWith('https:') && categories.length > 0
  const unsubscribeUrl =
    hasUnsubscribe &&
    `${pagesUrl}/unsubscribe?token=${await unsubscribeToken(sealing, { userId, categories, at: now })}`
  if (unsubscribeUrl) ends.push({ title: texts.unsubscribe, url: unsubscribeUrl })
  const [only] = items.length === 1 ? items : []
  const mail = renderUnreadMail({
    language,
    serviceName,
    accent,
    picture: logo?.type === 'image/png' ? logo : undefined,
    title: texts.subject(items.length, serviceName),
    sections,
    more: more > 0 ? [texts.more(more)] : [],
    open: { title: texts.open, url: only ? linkTo(only.id) : `${pagesUrl}/inbox` },
    ends,
  })
  return {
    ...mail,
    to: user.email,
    references:
      only?.key == null ? undefined : sealing.mac('mail-threads', `${userId} ${only.key}`),
    ...(unsubscribeUrl && {
      // RFC 8058.
      headers: {
        'list-unsubscribe': `<${unsubscribeUrl}>`,
        'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
      },
    }),
  }
}
