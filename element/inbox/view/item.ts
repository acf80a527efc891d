// The content of one notification of the list.
import type { Notification } from 'carillon-client'
import type * as Library from 'lit'
import type { TemplateResult } from 'lit'
import type { Strings } from '../../languages/en/inbox.ts'
import type { Times } from '../../times.ts'
import type { Categories } from './categories.ts'
import { picture } from './icons.ts'
import { safeLink } from './links.ts'
import { markdown } from './markdown.ts'

export type Lit = Pick<typeof Library, 'html' | 'nothing' | 'render'>

export type ItemContext = {
  lit: Lit
  strings: Strings
  times: Times
  /** By their names. */
  categories: Categories['known']
  /** Makes the content: a function of the page, or a template whose elements with `data-field` get the text of that field. */
  renderer: ((notification: Notification) => Node) | HTMLTemplateElement | null
}

/** `now`: in milliseconds since 1970. `time`: the relative one. */
export type Shown = { now: number; time: string; body: Node | string | undefined }

export function content(notification: Notification, shown: Shown, context: ItemContext): TemplateResult {
  const { strings, renderer, lit } = context
  const { html, nothing } = lit
  const { id, read, archivedAt, snoozedUntil } = notification
  const label = read ? strings.markAsUnread : strings.markAsRead
  const isAway = archivedAt || snoozedUntil
  const away = isAway ? strings.unarchive : strings.archive
  return html`<button part="item-toggle" type="button" aria-label=${label} title=${label}
      ><span part="unread-dot" id="u-${id}" role=${read ? nothing : 'img'} aria-label=${read ? nothing : strings.itemUnread}></span
    ></button>
    ${renderer ? nothing : look(notification, lit)}
    <div part="item-content">${renderer ? html`<div id="t-${id}">${rendered(notification, renderer)}</div>` : usual(notification, shown, context)}</div>
    <div part="item-acts">
      <button part="item-archive" type="button" aria-label=${away} title=${away}>${picture(isAway ? 'unarchive' : 'archive', lit)}</button>
      <button part="item-more" type="button" aria-label=${strings.more} title=${strings.more} aria-haspopup="menu">${picture('more', lit)}</button>
    </div>`
}

/** The image of the actor, otherwise the icon; with both, the icon is at the corner of the image. */
function look({ actor, icon }: Notification, lit: Lit): TemplateResult | symbol {
  const { html, nothing } = lit
  const name = typeof icon === 'string' ? icon : undefined
  const drawn = typeof icon === 'string' ? picture(icon, lit) : image(icon?.imageUrl, lit)
  const face = image(actor?.imageUrl, lit)
  const [initial = ''] = actor?.name ?? ''
  if (!drawn && !actor) return nothing
  return html`<span part="item-look" data-icon=${face ? nothing : (name ?? nothing)} aria-hidden="true"
    >${face ?? drawn ?? initial}${face && drawn ? html`<span part="item-icon" data-icon=${name ?? nothing}>${drawn}</span>` : nothing}</span>`
}

export function bodyOf({ body, format }: Notification): Node | string | undefined {
  return body && format === 'markdown' ? markdown(String(body)) : (body ?? undefined)
}

/** The server of an image does not learn which page displays it. */
function image(url: string | null | undefined, { html }: Lit): TemplateResult | undefined {
  const source = safeLink(url ?? null)
  return source === undefined ? undefined : html`<img src=${source} alt="" referrerpolicy="no-referrer" loading="lazy">`
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
  { now, time, body }: Shown,
  { lit: { html, nothing }, strings, times, categories }: ItemContext,
): TemplateResult {
  const { id, title, url, category, count, updatedAt, actor, actions, snoozedUntil } = notification
  return html`<a part="item-title" id="t-${id}" href=${safeLink(url) ?? nothing} tabindex="-1" dir="auto">${title}</a>
    <div id="b-${id}">${body ? html`<p part="item-body" dir="auto">${body}</p>` : nothing}</div>
    ${
      Array.isArray(actions)
        ? html`<p part="item-actions">${actions.map(
            (action) =>
              html`<a part="item-action" href=${safeLink(action.url) ?? nothing} rel="noopener" dir="auto">${action.label}</a>`,
          )}</p>`
        : nothing
    }
    <p part="item-details" id="d-${id}">
      ${actor ? html`<span part="item-actor" dir="auto">${actor.name}</span>` : nothing}
      <time part="item-time" datetime=${updatedAt} title=${times.absolute(updatedAt)}>${time}</time>
      ${count > 1 ? html`<span part="item-count" role="img" aria-label=${strings.countLabel(count)}>${strings.count(count)}</span>` : nothing}
      ${category ? html`<span part="item-category" dir="auto">${categories.get(category)?.label ?? category}</span>` : nothing}
      ${snoozedUntil ? html`<span part="item-until">${strings.until} ${times.moment(Date.parse(snoozedUntil), now)}</span>` : nothing}
    </p>`
}
