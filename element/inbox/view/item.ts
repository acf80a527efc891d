// The content of one notification of the list.
import type { Notification } from 'carillon-client'
import type * as lit from 'lit'
import type { TemplateResult } from 'lit'
import type { Strings } from '../../languages/en/inbox.ts'
import type { Times } from '../../times.ts'
import { safeLink } from './links.ts'

export type Lit = Pick<typeof lit, 'html' | 'nothing' | 'render'>

export type ItemContext = {
  lit: Lit
  strings: Strings
  times: Times
  /** Makes the content: a function of the page, or a template whose elements with `data-field` get the text of that field. */
  renderer: ((notification: Notification) => Node) | HTMLTemplateElement | null
}

/** `time` is the relative one. */
export function content(notification: Notification, time: string, context: ItemContext): TemplateResult {
  const { strings, renderer } = context
  const { html, nothing } = context.lit
  const { id, read } = notification
  const label = read ? strings.markAsUnread : strings.markAsRead
  return html`<button part="item-toggle" type="button" aria-label=${label} title=${label}
      ><span part="unread-dot" id="u-${id}" role=${read ? nothing : 'img'} aria-label=${read ? nothing : strings.itemUnread}></span
    ></button>
    <div part="item-content">${renderer ? html`<div id="t-${id}">${rendered(notification, renderer)}</div>` : usual(notification, time, context)}</div>`
}

function rendered(notification: Notification, renderer: NonNullable<ItemContext['renderer']>): Node {
  if (typeof renderer === 'function') return renderer(notification)
  const copy = document.importNode(renderer.content, true)
  for (const element of copy.querySelectorAll<HTMLElement>('[data-field]')) {
    const field = element.dataset.field as keyof Notification
    element.textContent = String(notification[field] ?? '')
  }
  return copy
}

/** A link without `href` is inert, and still a place for the title. The texts are those of users: each has its own direction. */
function usual(
  notification: Notification,
  time: string,
  { lit: { html, nothing }, strings, times }: ItemContext,
): TemplateResult {
  const { id, title, body, url, category, count, updatedAt } = notification
  return html`<a part="item-title" id="t-${id}" href=${safeLink(url) ?? nothing} tabindex="-1" dir="auto">${title}</a>
    <div id="b-${id}">
      ${body ? html`<p part="item-body" dir="auto">${body}</p>` : nothing}
      <p part="item-details">
        <time part="item-time" datetime=${updatedAt} title=${times.absolute(updatedAt)}>${time}</time>
        ${count > 1 ? html`<span part="item-count" role="img" aria-label=${strings.countLabel(count)}>${strings.count(count)}</span>` : nothing}
        ${category ? html`<span part="item-category" dir="auto">${category}</span>` : nothing}
      </p>
    </div>`
}
