// The articles of the feed (https://www.w3.org/WAI/ARIA/apg/patterns/feed/): one for each notification, which stays in the page
// while it moves. A notification that does not change is not rendered again: the store keeps its object.
import type { Notification } from 'carillon-client'
import { bodyOf, content, type ItemContext, type Shown } from './item.ts'

type Row = { article: HTMLElement; notification?: Notification; context?: ItemContext; shown?: Shown }
type Content = {
  items: readonly Notification[]
  /** The number of notifications in the whole list. */
  size: number
  /** In milliseconds since 1970. */
  now: number
  context: ItemContext
}

export class Feed {
  readonly #rows = new Map<string, Row>()
  /** The headings by the midnight of their day. */
  readonly #days = new Map<number, HTMLElement>()

  update(feed: Element, { items, size, now, context }: Content): void {
    const ids = new Set(items.map(({ id }) => id))
    // First, so that the articles that stay, one of which may have the focus, are not moved.
    for (const [id, { article }] of this.#rows)
      if (!ids.has(id)) {
        article.remove()
        this.#rows.delete(id)
      }
    const days = daysOf(items)
    for (const [day, heading] of this.#days)
      if (!days.includes(day)) {
        heading.remove()
        this.#days.delete(day)
      }
    let next = feed.firstElementChild
    const put = (element: Element) => {
      if (element === next) next = next.nextElementSibling
      else feed.insertBefore(element, next)
    }
    for (const [index, notification] of items.entries()) {
      const day = days[index] ?? 0
      if (day && day !== days[index - 1]) put(this.#heading(day, context.times.day(day, now)))
      const { article } = this.#row(notification, { now, context })
      set(article, 'aria-posinset', `${index + 1}`)
      set(article, 'aria-setsize', `${size}`)
      put(article)
    }
  }

  /** A feed contains articles only, whose times name the day too, so a screen reader does not read the headings. */
  #heading(day: number, text: string): HTMLElement {
    const heading = this.#days.get(day) ?? document.createElement('div')
    this.#days.set(day, heading)
    set(heading, 'part', 'day')
    set(heading, 'aria-hidden', 'true')
    if (heading.textContent !== text) heading.textContent = text
    return heading
  }

  #row(notification: Notification, { now, context }: Pick<Content, 'now' | 'context'>): Row {
    const { id, read, updatedAt } = notification
    const row = this.#rows.get(id) ?? { article: newArticle(id) }
    this.#rows.set(id, row)
    const isSame = row.notification === notification && row.context === context
    if (isSame && row.shown?.now === now) return row
    const time = context.times.relative(updatedAt, now)
    // A link in the body keeps the focus while the notification is the same.
    const shown = { now, time, body: isSame ? row.shown?.body : bodyOf(notification) }
    // Most times read as before when the clock ticks.
    if (!isSame || row.shown?.time !== time) {
      set(row.article, 'part', read ? 'item' : 'item item-unread')
      set(row.article, 'aria-labelledby', read ? `t-${id}` : `u-${id} t-${id}`)
      context.lit.render(content(notification, shown, context), row.article)
    }
    return Object.assign(row, { notification, context, shown })
  }
}

/**
 * For each item the midnight of the day on which it came to its place; 0 if its time is invalid. What is sent quietly under its key
 * keeps its place; what is above an item came later.
 */
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
