// The content of one notification of the list.
import type { Notification } from 'carillon-client'
import type * as lit from 'lit'
import type { TemplateResult } from 'lit'
import type { Strings } from '../../languages/strings.ts'
import type { Times } from '../../times.ts'
import { safeLink } from './links.ts'

export type Lit = Pick<typeof lit, 'html' | 'nothing' | 'render'>

export type ItemContext = {
  lit: Lit
  strings: Strings
  times: Times
  /** In milliseconds since 1970. */
  now: number
  renderItem: ((notification: Notification) => Node) | undefined
}

export function content(notification: Notification, context: ItemContext): TemplateResult {
  const { strings, renderItem } = context
  const { html, nothing } = context.lit
  const { id, read } = notification
  const label = read ? strings.markAsUnread : strings.markAsRead
  return html`<span part="unread-dot" id="u-${id}" role=${read ? nothing : 'img'} aria-label=${read ? nothing : strings.itemUnread}></span>
    <div part="item-content">${renderItem ? html`<div id="t-${id}">${renderItem(notification)}</div>` : usual(notification, context)}</div>
    <button part="item-toggle" type="button" aria-label=${label} title=${label}></button>`
}

/** A link without `href` is inert, and still a place for the title. The texts are those of users: each has its own direction. */
function usual(
  notification: Notification,
  { lit: { html, nothing }, strings, times, now }: ItemContext,
): TemplateResult {
  const { id, title, body, url, category, count, updatedAt } = notification
  return html`<a part="item-title" id="t-${id}" href=${safeLink(url) ?? nothing} tabindex="-1" dir="auto">${title}</a>
    <div id="b-${id}">
      ${body ? html`<p part="item-body" dir="auto">${body}</p>` : nothing}
      <p part="item-details">
        <time part="item-time" datetime=${updatedAt} title=${times.absolute(updatedAt)}>${times.relative(updatedAt, now)}</time>
        ${count > 1 ? html`<span part="item-count" role="img" aria-label=${strings.countLabel(count)}>${strings.count(count)}</span>` : nothing}
        ${category ? html`<span part="item-category" dir="auto">${category}</span>` : nothing}
      </p>
    </div>`
}
