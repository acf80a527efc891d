// Watches both ends of the list by IntersectionObserver: whether the reader has scrolled away from the top, and whether the end
// comes into view. It works whether the list scrolls, or the page around it.

/** How far the end is from coming into view. */
const near = '400px'

export class ScrollWatch {
  /** The top of the list is above what is visible. */
  isScrolled = false
  readonly #on: { top(): void; end(): void }
  #list: Element | null | undefined
  #atTop: IntersectionObserver | undefined
  #atEnd: IntersectionObserver[] = []
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(on: { top(): void; end(): void }) {
    this.#on = on
  }

  /** The element that scrolls; its first and last children mark the ends. */
  observe(list: Element | null | undefined): void {
    if (list === this.#list) return
    this.disconnect()
    this.#list = list
    const top = list?.firstElementChild
    if (!list || !top) return
    this.#atTop = new IntersectionObserver((entries) => {
      for (const { isIntersecting, boundingClientRect } of entries) {
        const visibleTop = Math.max(0, list.getBoundingClientRect().top)
        // Without a width, the list is not displayed.
        this.isScrolled = !isIntersecting && boundingClientRect.width > 0 && boundingClientRect.top < visibleTop
      }
      this.#on.top()
    })
    this.#atTop.observe(top)
    const reporting = new Set<IntersectionObserver>()
    const onEnd: IntersectionObserverCallback = (entries, observer) => {
      reporting[entries.at(-1)?.isIntersecting ? 'add' : 'delete'](observer)
      clearTimeout(this.#timer)
      // A moment later, so that a pointer on its way to the button "Load more" finds it.
      if (reporting.size > 0) this.#timer = setTimeout(this.#on.end, 150)
    }
    // One for the window, and one for the list: Chromium adds up both margins. A browser without the second reports the end in view.
    this.#atEnd = [{ rootMargin: near }, { scrollMargin: near }].map((one) => new IntersectionObserver(onEnd, one))
    this.again()
  }

  /** Reports the end again if it is still in view. */
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
