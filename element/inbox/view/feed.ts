// The articles of the feed (https://www.w3.org/WAI/ARIA/apg/patterns/feed/): one for each notification, which stays in the page
// while it moves. A notification that does not change is not rendered again: the store keeps its object.
import type { Notification } from 'carillon-client'
import { content, type ItemContext } from './item.ts'

type Row = { article: HTMLElement; notification?: Notification; context?: ItemContext }

export class Feed {
  readonly #rows = new Map<string, Row>()

  /** `size` is the number of notifications in the whole list. */
  update(
    feed: Element,
    { items, size, context }: { items: readonly Notification[]; size: number; context: ItemContext },
  ) {
    const ids = new Set(items.map(({ id }) => id))
    // First, so that the articles that stay, one of which may have the focus, are not moved.
    for (const [id, { article }] of this.#rows)
      if (!ids.has(id)) {
        article.remove()
        this.#rows.delete(id)
      }
    let next = feed.firstElementChild
    for (const [index, notification] of items.entries()) {
      const { article } = this.#row(notification, context)
      set(article, 'aria-posinset', `${index + 1}`)
      set(article, 'aria-setsize', `${size}`)
      if (article === next) next = next.nextElementSibling
      else feed.insertBefore(article, next)
    }
  }

  #row(notification: Notification, context: ItemContext): Row {
    const { id, read } = notification
    const row = this.#rows.get(id) ?? { article: newArticle(id) }
    this.#rows.set(id, row)
    if (row.notification === notification && row.context === context) return row
    set(row.article, 'part', read ? 'item' : 'item item-unread')
    set(row.article, 'aria-labelledby', read ? `t-${id}` : `u-${id} t-${id}`)
    context.lit.render(content(notification, context), row.article)
    return Object.assign(row, { notification, context })
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
