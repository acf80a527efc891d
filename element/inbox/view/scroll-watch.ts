// Watches both ends of the list by IntersectionObserver: whether the reader has scrolled away from the top, and whether the end
// comes into view. It works whether the list scrolls, or the page around it.

/** Pixels before the end comes into view. */
const margin = 400

export class ScrollWatch {
  /** The top of the list is above what is visible. */
  isScrolled = false
  readonly #onTop: () => void
  readonly #onEnd: () => void
  #list: Element | null | undefined
  #atTop: IntersectionObserver | undefined
  #atEnd: IntersectionObserver[] = []
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor({ onTop, onEnd }: { onTop: () => void; onEnd: () => void }) {
    this.#onTop = onTop
    this.#onEnd = onEnd
  }

  /** The element that scrolls; its first and last children mark the ends. */
  observe(list: Element | null | undefined): void {
    if (list === this.#list) return
    this.disconnect()
    this.#list = list
    const [top, end] = [list?.firstElementChild, list?.lastElementChild]
    if (!list || !top || !end) return
    this.#atTop = new IntersectionObserver((entries) => {
      for (const { isIntersecting, boundingClientRect } of entries) {
        const visibleTop = Math.max(0, list.getBoundingClientRect().top)
        // Without a width, the list is not displayed.
        this.isScrolled = !isIntersecting && boundingClientRect.width > 0 && boundingClientRect.top < visibleTop
      }
      this.#onTop()
    })
    this.#atTop.observe(top)
    // A margin reaches past the edge of one scrolling box, and not past the element, which clips its content. So one observer has the
    // window and one has the list.
    this.#atEnd = [null, list].map(
      (root) => new IntersectionObserver(() => this.#onMoved(list, end), { root, rootMargin: `${margin}px` }),
    )
    this.again()
  }

  #onMoved(list: Element, end: Element): void {
    clearTimeout(this.#timer)
    // A moment later, so that a pointer on its way to the button "Load more" finds it.
    this.#timer = setTimeout(() => isNear(list, end) && this.#onEnd(), 150)
  }

  /** Reports the end again if it is still in view. */
  again(): void {
    const end = this.#list?.lastElementChild
    if (!end) return
    for (const observer of this.#atEnd) {
      observer.unobserve(end)
      observer.observe(end)
    }
  }

  disconnect(): void {
    clearTimeout(this.#timer)
    this.#atTop?.disconnect()
    for (const observer of this.#atEnd) observer.disconnect()
    this.#list = undefined
    this.isScrolled = false
  }
}

/** Without a width, the list is not displayed. */
function isNear(list: Element, end: Element): boolean {
  const { top, width } = end.getBoundingClientRect()
  return width > 0 && top < Math.min(innerHeight, list.getBoundingClientRect().bottom) + margin
}
