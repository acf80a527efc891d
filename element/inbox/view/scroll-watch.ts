// Watches both ends of the list by IntersectionObserver, whether the list or the page scrolls.

const near = '400px'
const below = '0px 0px 999999px'

export class ScrollWatch {
  isScrolled = false
  readonly #on: { top(): void; end(): void }
  #list: Element | null | undefined
  #atTop: IntersectionObserver | undefined
  #atEnd: IntersectionObserver[] = []
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(on: { top(): void; end(): void }) {
    this.#on = on
  }

  /** The first and the last child of the list mark its ends. */
  observe(list: Element | null | undefined): void {
    if (list === this.#list) return
    this.disconnect()
    this.#list = list
    const top = list?.firstElementChild
    if (!list || !top) return
    const onTop: IntersectionObserverCallback = (entries) => {
      const { top: y, width } = top.getBoundingClientRect()
      // A browser without `scrollMargin` also reports a top that is below what is visible.
      const isAbove = y < Math.max(innerHeight / 2, list.getBoundingClientRect().top)
      // A list without a width is not displayed.
      this.isScrolled = !entries.at(-1)?.isIntersecting && width > 0 && isAbove
      this.#on.top()
    }
    // A top below what is visible counts as visible, so that a jump over it is reported too.
    this.#atTop = new IntersectionObserver(onTop, { rootMargin: below, scrollMargin: below })
    this.#atTop.observe(top)
    const reporting = new Set<IntersectionObserver>()
    const onEnd: IntersectionObserverCallback = (entries, observer) => {
      reporting[entries.at(-1)?.isIntersecting ? 'add' : 'delete'](observer)
      clearTimeout(this.#timer)
      // A pointer on its way to "Load more" finds it.
      if (reporting.size > 0) this.#timer = setTimeout(this.#on.end, 150)
    }
    // One for the window, one for the list: Chromium adds up both margins.
    this.#atEnd = [{ rootMargin: near }, { scrollMargin: near }].map(
      (one) => new IntersectionObserver(onEnd, one),
    )
    this.again()
  }

  again(): void {
    const end = this.#list?.lastElementChild
    for (const observer of this.#atEnd) {
      observer.disconnect()
      if (end) observer.observe(end)
    }
  }

  disconnect(): void {
    clearTimeout(this.#timer)
    for (const observer of [this.#atTop, ...this.#atEnd]) observer?.disconnect()
    this.#list = undefined
    this.isScrolled = false
  }
}
