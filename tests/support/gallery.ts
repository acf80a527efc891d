// The gallery of the elements, served as `npm run gallery` does, in a real Chromium with a fixed
// time.
import type { Page } from 'playwright-core'
import { startGallery } from '../../element/gallery/serve.ts'
import { Chromium } from './chromium.ts'

export type Look = {
  /** Without it, the page shows all states. */
  state?: string
  theme?: 'light' | 'dark' | 'auto'
  language?: string
  isForced?: boolean
  width?: number
  height?: number
}

export class Gallery implements AsyncDisposable {
  readonly browser: Chromium
  readonly #server: Awaited<ReturnType<typeof startGallery>>

  private constructor(browser: Chromium, server: Awaited<ReturnType<typeof startGallery>>) {
    this.browser = browser
    this.#server = server
  }

  static async start(): Promise<Gallery> {
    return new Gallery(await Chromium.start(), await startGallery())
  }

  /** Resolves when each list is rendered, in its language and with its fonts. `context`: of another device. */
  async open(
    { state = '', theme = 'light', language = 'en', isForced, width = 1000, height = 640 }: Look,
    context = this.browser.context,
  ): Promise<Page> {
    const page = await context.newPage()
    await page.clock.setFixedTime('2026-11-22T12:00:00Z')
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ forcedColors: isForced ? 'active' : 'none', reducedMotion: 'reduce' })
    await page.goto(`${this.#server.url}?${new URLSearchParams({ state, theme, lang: language })}`)
    await page.waitForFunction(() => document.documentElement.dataset.ready !== undefined)
    return page
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser[Symbol.asyncDispose]()
    this.#server.server.close()
    this.#server.server.closeAllConnections()
  }
}

/** Resolves when the panel displays its list, whose code is loaded on demand. */
export async function openBell(page: Page): Promise<void> {
  await page.locator('carillon-bell [part=bell]').click()
  await page.locator('carillon-bell carillon-inbox [part=title]').waitFor()
}
