// One notification of the list: an article of the feed (https://www.w3.org/WAI/ARIA/apg/patterns/feed/).
import type { Notification } from 'carillon-client'
import { html, nothing, type TemplateResult } from 'lit'
import { guard } from 'lit/directives/guard.js'
import type { Strings } from '../languages/strings.ts'
import type { Times } from '../times.ts'
import { safeLink } from './links.ts'

export type ItemContext = {
  strings: Strings
  times: Times
  /** In milliseconds since 1970. */
  now: number
  renderItem: ((notification: Notification) => Node) | undefined
}

/**
 * The number of articles: -1 if it is not known. The store replaces the object of a notification that changes, so the content
 * of all others is not made again.
 */
export function item(
  notification: Notification,
  { position, size }: { position: number; size: number },
  context: ItemContext,
): TemplateResult {
  const { id, read } = notification
  return html`<article
    part=${read ? 'item' : 'item item-unread'}
    tabindex="0"
    data-id=${id}
    aria-posinset=${position}
    aria-setsize=${size}
    aria-labelledby="t-${id}"
    aria-describedby="b-${id}"
  >${guard([notification, ...Object.values(context)], () => content(notification, context))}</article>`
}

function content(notification: Notification, { strings, times, now, renderItem }: ItemContext): TemplateResult {
  const { id, title, body, url, category, count, read, updatedAt } = notification
  return html`<span part="unread-dot" id="u-${id}" role=${read ? nothing : 'img'} aria-label=${read ? nothing : strings.itemUnread}></span>
    <div part="item-content" id="b-${id}">
      ${
        renderItem
          ? html`<div id="t-${id}">${renderItem(notification)}</div>`
          : html`<a part="item-title" id="t-${id}" href=${safeLink(url) ?? nothing} tabindex="-1" dir="auto">${title}</a>
            ${body ? html`<p part="item-body" dir="auto">${body}</p>` : nothing}
            <p part="item-details">
              <time part="item-time" datetime=${updatedAt} title=${times.absolute(updatedAt)}>${times.relative(updatedAt, now)}</time>
              ${count > 1 ? html`<span part="item-count" role="img" aria-label=${strings.countLabel(count)}>${strings.count(count)}</span>` : nothing}
              ${category ? html`<span part="item-category" dir="auto">${category}</span>` : nothing}
            </p>`
      }
    </div>
    <button part="item-toggle" type="button" data-act=${read ? 'unread' : 'read'}
      aria-label=${read ? strings.markAsUnread : strings.markAsRead}
      title=${read ? strings.markAsUnread : strings.markAsRead}></button>`
}
