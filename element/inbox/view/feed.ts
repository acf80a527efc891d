// The articles of the feed (https://www.w3.org/WAI/ARIA/apg/patterns/feed/): one for each notification, which stays in the page
// while it moves. A notification that does not change is not rendered again: the store keeps its object.
import type { Notification } from 'carillon-client'
import { content, type ItemContext } from './item.ts'

/** `now` is the time at which `time`, the relative one, was made. */
type Row = { article: HTMLElement; notification?: Notification; context?: ItemContext; now?: number; time?: string }
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

  update(feed: Element, { items, size, now, context }: Content): void {
    const ids = new Set(items.map(({ id }) => id))
    // First, so that the articles that stay, one of which may have the focus, are not moved.
    for (const [id, { article }] of this.#rows)
      if (!ids.has(id)) {
        article.remove()
        this.#rows.delete(id)
      }
    let next = feed.firstElementChild
    for (const [index, notification] of items.entries()) {
      const { article } = this.#row(notification, { now, context })
      set(article, 'aria-posinset', `${index + 1}`)
      set(article, 'aria-setsize', `${size}`)
      if (article === next) next = next.nextElementSibling
      else feed.insertBefore(article, next)
    }
  }

  #row(notification: Notification, { now, context }: Pick<Content, 'now' | 'context'>): Row {
    const { id, read, updatedAt } = notification
    const row = this.#rows.get(id) ?? { article: newArticle(id) }
    this.#rows.set(id, row)
    const isSame = row.notification === notification && row.context === context
    if (isSame && row.now === now) return row
    const time = context.times.relative(updatedAt, now)
    // Most times read as before when the clock ticks.
    if (!isSame || row.time !== time) {
      set(row.article, 'part', read ? 'item' : 'item item-unread')
      set(row.article, 'aria-labelledby', read ? `t-${id}` : `u-${id} t-${id}`)
      context.lit.render(content(notification, time, context), row.article)
    }
    return Object.assign(row, { notification, context, now, time })
  }
}

function newArticle(id: string): HTMLElement {
  const article = document.createElement('article')
  article.tabIndex = 0
  article.dataset.id = id
  article.setAttribute('aria-describedby', `b-${id}`)
  return article
}

/** Writes nothing if the value is right: there may be a thousand articles. */
function set(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value)
}
