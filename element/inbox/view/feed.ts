// The articles of the feed (https://www.w3.org/WAI/ARIA/apg/patterns/feed/). An article stays in
// the page while its notification moves, and is not rendered again without a change.
import type { Notification } from 'carillon-client'
import { bodyOf, content, type ItemContext, type Shown } from './item.ts'
import { render } from './loaded.ts'

type Row = {
  element: HTMLElement
  notification?: Notification
  context?: ItemContext
  shown?: Shown
}
type Content = {
  items: readonly Notification[]
  size: number
  /** In milliseconds since 1970. */
  now: number
  context: ItemContext
}

export class Feed {
  /** Headings by the midnight of their day. */
  readonly #rows = new Map<string | number, Row>()
  /** A cut title or body gets a button that displays all of it. The browser lays out once. */
  readonly #fold = (): void => {
    const articles = [...this.#rows.values()].map(({ element }) => element)
    for (const article of articles) article.removeAttribute('data-folded')
    const texts = [...(this.#feed?.querySelectorAll('[part=item-title],[part=item-summary]') ?? [])]
    const cut = texts.filter(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight + 1)
    for (const text of cut) text.closest('article')?.setAttribute('data-folded', '')
  }
  readonly #resizes = new ResizeObserver(this.#fold)
  #feed: Element | undefined

  update(feed: Element, { items, size, now, context }: Content): void {
    const days = daysOf(items)
    const kept = new Set<string | number>([...days, ...items.map(({ id }) => id)])
    // First, so that the articles that stay, one of which may have the focus, are not moved.
    for (const [name, { element }] of this.#rows)
      if (!kept.has(name)) {
        element.remove()
        this.#rows.delete(name)
      }
    this.#observe(feed)
    let next = feed.firstElementChild
    let isChanged = false
    const put = (element: Element) => {
      if (element === next) next = next.nextElementSibling
      else feed.insertBefore(element, next)
    }
    for (const [index, notification] of items.entries()) {
      const day = days[index] ?? 0
      if (day && day !== days[index - 1]) put(this.#heading(day, context.times.day(day, now)))
      const before = this.#rows.get(notification.id)?.notification
      isChanged ||= before !== notification
      const { element } = this.#row(notification, { now, context })
      set(element, 'aria-posinset', `${index + 1}`)
      set(element, 'aria-setsize', `${size}`)
      put(element)
    }
    if (isChanged) this.#fold()
  }

  /** A font that is loaded later changes where a text is cut. */
  #observe(feed: Element): void {
    if (feed === this.#feed) return
    this.#feed = feed
    this.#resizes.observe(feed)
    document.fonts.addEventListener('loadingdone', this.#fold)
  }

  disconnect(): void {
    this.#resizes.disconnect()
    document.fonts.removeEventListener('loadingdone', this.#fold)
    this.#feed = undefined
  }

  /** Screen readers do not get it: a feed contains only articles, whose times name the day. */
  #heading(day: number, text: string): HTMLElement {
    const { element: heading } = this.#rows.get(day) ?? { element: document.createElement('div') }
    this.#rows.set(day, { element: heading })
    set(heading, 'part', 'day')
    set(heading, 'aria-hidden', 'true')
    if (heading.textContent !== text) heading.textContent = text
    return heading
  }

  #row(notification: Notification, { now, context }: Pick<Content, 'now' | 'context'>): Row {
    const { id, read, updatedAt } = notification
    const row: Row = this.#rows.get(id) ?? { element: newArticle(id) }
    this.#rows.set(id, row)
    const isSame = row.notification === notification && row.context === context
    if (isSame && row.shown?.now === now) return row
    const time = context.times.relative(updatedAt, now)
    // A link in the body keeps its focus.
    const shown = { now, time, body: isSame ? row.shown?.body : bodyOf(notification) }
    if (!isSame || row.shown?.time !== time) {
      set(row.element, 'part', partsOf(notification))
      set(row.element, 'aria-labelledby', read ? `t-${id}` : `u-${id} t-${id}`)
      render(content(notification, shown, context), row.element)
    }
    return Object.assign(row, { notification, context, shown })
  }
}

/** The midnight of the day on which each item came to its place; 0 if a time is invalid. */
function daysOf(items: readonly Notification[]): number[] {
  let latest = 0
  const days = [...items].reverse().map(({ count, createdAt, updatedAt }) => {
    latest = Math.max(latest, new Date(count > 1 ? updatedAt : createdAt).setHours(0, 0, 0, 0) || 0)
    return latest
  })
  return days.reverse()
}

function partsOf({ read, priority }: Notification): string {
  const parts = ['item', !read && 'item-unread', priority === 'high' && 'item-high']
  return parts.filter(Boolean).join(' ')
}

function newArticle(id: string): HTMLElement {
  const article = document.createElement('article')
  article.tabIndex = 0
  article.dataset.id = id
  article.setAttribute('aria-describedby', `b-${id} d-${id}`)
  return article
}

/** Writes nothing if the value is right: there may be a thousand articles. */
function set(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value)
}
