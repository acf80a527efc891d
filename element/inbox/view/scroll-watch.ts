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
  #atEnd: IntersectionObserver | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(on: { top(): void; end(): void }) {
    this.#on = on
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
      this.#on.top()
    })
    this.#atTop.observe(top)
    const onEnd: IntersectionObserverCallback = (entries) => {
      clearTimeout(this.#timer)
      // A moment later, so that a pointer on its way to the button "Load more" finds it.
      if (entries.at(-1)?.isIntersecting) this.#timer = setTimeout(this.#on.end, 150)
    }
    // The margin of the window, and that of the list; a browser that lacks the second reports the end when it is in view.
    this.#atEnd = new IntersectionObserver(onEnd, { rootMargin: near, scrollMargin: near })
    this.again()
  }

  /** Reports the end again if it is still in view. */
  again(): void {
    const end = this.#list?.lastElementChild
    if (!end) return
    this.#atEnd?.unobserve(end)
    this.#atEnd?.observe(end)
  }

  disconnect(): void {
    clearTimeout(this.#timer)
    this.#atTop?.disconnect()
    this.#atEnd?.disconnect()
    this.#list = undefined
    this.isScrolled = false
  }
}
