// The articles of the feed (https://www.w3.org/WAI/ARIA/apg/patterns/feed/): one for each notification, which stays in the page
// while it moves. A notification that does not change is not rendered again: the store keeps its object.
import type { Notification } from 'carillon-client'
import { bodyOf, content, type ItemContext, type Shown } from './item.ts'
import { render } from './loaded.ts'

/** An article, or the heading of a day. */
type Row = { element: HTMLElement; notification?: Notification; context?: ItemContext; shown?: Shown }
type Content = {
  items: readonly Notification[]
  /** The number of notifications in the whole list. */
  size: number
  /** In milliseconds since 1970. */
  now: number
  context: ItemContext
}

export class Feed {
  /** Articles by the ids of their notifications, and headings by the midnight of their day. */
  readonly #rows = new Map<string | number, Row>()

  update(feed: Element, { items, size, now, context }: Content): void {
    const days = daysOf(items)
    const kept = new Set<string | number>([...days, ...items.map(({ id }) => id)])
    // First, so that the articles that stay, one of which may have the focus, are not moved.
    for (const [name, { element }] of this.#rows)
      if (!kept.has(name)) {
        element.remove()
        this.#rows.delete(name)
      }
    let next = feed.firstElementChild
    const put = (element: Element) => {
      if (element === next) next = next.nextElementSibling
      else feed.insertBefore(element, next)
    }
    for (const [index, notification] of items.entries()) {
      const day = days[index] ?? 0
      if (day && day !== days[index - 1]) put(this.#heading(day, context.times.day(day, now)))
      const { element } = this.#row(notification, { now, context })
      set(element, 'aria-posinset', `${index + 1}`)
      set(element, 'aria-setsize', `${size}`)
      put(element)
    }
  }

  /** A feed contains articles only, whose times name the day too, so a screen reader does not read the headings. */
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
    // A link in the body keeps the focus while the notification is the same.
    const shown = { now, time, body: isSame ? row.shown?.body : bodyOf(notification) }
    // Most times read as before when the clock ticks.
    if (!isSame || row.shown?.time !== time) {
      set(row.element, 'part', read ? 'item' : 'item item-unread')
      set(row.element, 'aria-labelledby', read ? `t-${id}` : `u-${id} t-${id}`)
      render(content(notification, shown, context), row.element)
    }
    return Object.assign(row, { notification, context, shown })
  }
}

/** The midnights of the days on which the items came to their places, where a quiet update leaves them; 0 if a time is invalid. */
function daysOf(items: readonly Notification[]): number[] {
  let latest = 0
  const days = [...items].reverse().map(({ count, createdAt, updatedAt }) => {
    latest = Math.max(latest, new Date(count > 1 ? updatedAt : createdAt).setHours(0, 0, 0, 0) || 0)
    return latest
  })
  return days.reverse()
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
