import type { Action, Notification } from 'carillon-client'
import type { TemplateResult } from 'lit'
import type { Strings } from '../../languages/en/inbox.ts'
import type { Times } from '../../times.ts'
import type { Categories } from './categories.ts'
import { safeLink } from './links.ts'
import { html, nothing } from './loaded.ts'
import { markdown } from './markdown.ts'

const circle = 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18'
const paths: Readonly<Record<string, string>> = {
  bell: 'M6 10a6 6 0 0 1 12 0c0 5 2 6 2 7H4c0-1 2-2 2-7M10 20a2 2 0 0 0 4 0',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  info: `${circle}M12 11v5M12 8v.01`,
  warning: 'M12 4 2.5 20h19zM12 10v4M12 17v.01',
  error: `${circle}M9 9l6 6M15 9l-6 6`,
  message: 'M4 5h16v11H9l-5 4z',
  user: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8M4 20c0-4 4-6 8-6s8 2 8 6',
  calendar: 'M4 6h16v14H4zM4 10h16M8 3v4M16 3v4',
  money: 'M3 6h18v12H3zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5M6 12v.01M18 12v.01',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  archive: 'M3 4h18v4H3zM5 8v12h14V8M10 12h4',
  unarchive: 'M4 13v7h16v-7M12 4v11M8 11l4 4 4-4',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
}

export type ItemContext = {
  strings: Strings
  times: Times
  categories: Categories['known']
  /** A function of the page, or a template whose elements with `data-field` get that field. */
  renderer: ((notification: Notification) => Node) | HTMLTemplateElement | null
}

/** `now`: in milliseconds since 1970. `time`: the relative one. */
export type Shown = { now: number; time: string; body: Node | string | undefined }

export function content(
  notification: Notification,
  shown: Shown,
  context: ItemContext,
): TemplateResult {
  const { strings, renderer } = context
  const { id, read, archivedAt, snoozedUntil } = notification
  const label = read ? strings.markAsUnread : strings.markAsRead
  const isAway = archivedAt || snoozedUntil
  const away = isAway ? strings.unarchive : strings.archive
  const dot = read ? { role: nothing, name: nothing } : { role: 'img', name: strings.itemUnread }
  return html`<button part="item-toggle" type="button" aria-label=${label} title="${label} (u)"
      ><span part="unread-dot" id="u-${id}" role=${dot.role} aria-label=${dot.name}></span
    ></button>
    ${renderer ? nothing : look(notification, context)}
    <div part="item-content">${renderer ? html`<div id="t-${id}">${rendered(notification, renderer)}</div>` : usual(notification, shown, context)}</div>
    <div part="item-acts">
      <button part="item-archive" type="button" aria-label=${away} title="${away} (e)">${picture(isAway ? 'unarchive' : 'archive')}</button>
      <button part="item-more" type="button" aria-label=${strings.more} title="${strings.more} (.)" aria-haspopup="menu">${picture('more')}</button>
    </div>`
}

function look(
  { actor, icon, category }: Notification,
  { categories }: ItemContext,
): TemplateResult | symbol {
  const name = typeof icon === 'string' ? icon : undefined
  const drawn = typeof icon === 'string' ? picture(icon) : image(icon?.imageUrl)
  const face = image(actor?.imageUrl)
  const [initial = ''] = actor?.name ?? categories.get(category ?? '')?.label ?? category ?? ''
  if (!drawn && !actor && !category) return nothing
  return html`<span part="item-look" data-icon=${face ? nothing : (name ?? nothing)} aria-hidden="true"
    >${face ?? drawn ?? initial.toUpperCase()}${face && drawn ? html`<span part="item-icon" data-icon=${name ?? nothing}>${drawn}</span>` : nothing}</span>`
}

export function bodyOf({ body, format }: Notification): Node | string | undefined {
  return body && format === 'markdown' ? markdown(String(body)) : (body ?? undefined)
}

/** The server of an image does not learn which page displays it. */
function image(url: string | null | undefined): TemplateResult | undefined {
  const source = safeLink(url ?? null)
  return source === undefined
    ? undefined
    : html`<img src=${source} alt="" referrerpolicy="no-referrer" loading="lazy">`
}

function rendered(
  notification: Notification,
  renderer: NonNullable<ItemContext['renderer']>,
): Node {
  if (typeof renderer === 'function') return renderer(notification)
  const copy = document.importNode(renderer.content, true)
  for (const element of copy.querySelectorAll<HTMLElement>('[data-field]')) {
    const field = element.dataset.field as keyof Notification
    element.textContent = String(notification[field] ?? '')
  }
  return copy
}

/** A link without `href` is inert. Each text of a user has its own direction. */
function usual(
  notification: Notification,
  { now, time, body }: Shown,
  context: ItemContext,
): TemplateResult {
  const { strings, times, categories } = context
  const { id, title, url, category, count, priority, updatedAt, actor, actions, snoozedUntil } =
    notification
  const button = (one: Action) =>
    html`<a part="item-action" href=${safeLink(one.url) ?? nothing} rel="noopener" dir="auto">${one.label}</a>`
  const name = actor ? html`<span part="item-actor" dir="auto">${actor.name}</span>` : nothing
  const text = body ? html` <span part="item-body" dir="auto">${body}</span>` : nothing
  const summary = body || actor ? html`<p part="item-summary">${name}${text}</p>` : nothing
  return html`<div part="item-head">
      <a part="item-title" id="t-${id}" href=${safeLink(url) ?? nothing} tabindex="-1" dir="auto">${title}</a>
      <p part="item-details" id="d-${id}">
        ${priority === 'high' ? html`<span part="item-priority" role="img" aria-label=${strings.important}></span>` : nothing}
        <time part="item-time" datetime=${updatedAt} title=${times.absolute(updatedAt)}>${time}</time>
        ${count > 1 ? html`<span part="item-count" role="img" aria-label=${strings.countLabel(count)}>${strings.count(count)}</span>` : nothing}
        ${category ? html`<span part="item-category" dir="auto">${categories.get(category)?.label ?? category}</span>` : nothing}
        ${snoozedUntil ? html`<span part="item-until">${strings.until} ${times.moment(Date.parse(snoozedUntil), now)}</span>` : nothing}
      </p>
    </div>
    <div part="item-text">
      <div id="b-${id}">${summary}</div>
      <button part="item-unfold" type="button">${strings.unfold}</button>
    </div>
    ${Array.isArray(actions) ? html`<p part="item-actions">${actions.map(button)}</p>` : nothing}`
}

export function picture(name: string): TemplateResult | undefined {
  if (!Object.hasOwn(paths, name)) return undefined
  return html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d=${paths[name]}></path></svg>`
}
