// What runs in the page of the bell's measurement. Playwright sends each function as text, so it uses nothing from outside itself.

export type Noted = {
  frames: number
  longestFrameMs: number
  longestTaskMs: number
  /** Each number on the bell with the time of its frame, in milliseconds since 1970. */
  counts: { unread: number; at: number }[]
}

/** Starts to note frames, long tasks and the numbers on the bell, in `globalThis.noted`. */
export function noteInPage(): void {
  const noted: Noted = { frames: 0, longestFrameMs: 0, longestTaskMs: 0, counts: [] }
  Object.assign(globalThis, { noted })
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) noted.longestTaskMs = Math.max(noted.longestTaskMs, duration)
  }).observe({ type: 'longtask' })
  const bell = document.querySelector('carillon-bell')
  // The number itself, in place of "99+".
  if (bell) bell.strings = { bell: (unread) => `${unread} unread` }
  const button = bell?.shadowRoot?.querySelector('button')
  let last = performance.now()
  const frame = (now: number) => {
    noted.frames++
    noted.longestFrameMs = Math.max(noted.longestFrameMs, now - last)
    last = now
    const unread = Number(/\d+/.exec(button?.ariaLabel?.replaceAll(',', '') ?? '')?.[0] ?? 0)
    if (unread !== (noted.counts.at(-1)?.unread ?? 0))
      noted.counts.push({ unread, at: performance.timeOrigin + performance.now() })
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
}

/** Scrolls to the end of the list until it has `count` notifications, and back to its top. */
export async function scrollInPage(count: number): Promise<void> {
  const root = document.querySelector('carillon-inbox')?.shadowRoot
  const list = root?.querySelector('[part~=scroll]')
  if (!root || !list) throw new Error('there is no list')
  const step = (by: number) =>
    new Promise<void>((resolve) =>
      requestAnimationFrame(() => {
        list.scrollBy(0, by)
        resolve()
      }),
    )
  const givenUpAt = performance.now() + 60_000
  while (
    root.querySelectorAll('article').length < count ||
    list.scrollTop + list.clientHeight < list.scrollHeight - 1
  ) {
    await step(200)
    if (performance.now() > givenUpAt) throw new Error(`only ${root.querySelectorAll('article').length} were loaded`)
  }
  while (list.scrollTop > 0) await step(-200)
}
