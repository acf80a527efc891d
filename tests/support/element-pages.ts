// Pages with the elements, at the origin of a real service, under a strict Content Security Policy.
// The script is bundled as the installation bundles it.
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { bundle } from '../../element/build.js'
import { Chromium } from './chromium.ts'
import { becomes } from './pages/browser-page.ts'
import { startTestService, type TestService, type TestUser } from './service.ts'

export const strictPolicy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'"
/** With a hash in its name, the script takes its own address as that of Carillon. */
const script = 'carillon-inbox-0.js'

export class ElementPages implements AsyncDisposable {
  readonly service: TestService
  readonly browser: Chromium
  /** Chromium writes an error for each failed request; those are left out. */
  readonly errors: string[] = []

  private constructor(service: TestService, browser: Chromium) {
    this.service = service
    this.browser = browser
  }

  static async start(): Promise<ElementPages> {
    const [service, browser, files] = await Promise.all([
      startTestService(),
      Chromium.start(),
      bundle({
        'carillon-inbox': fileURLToPath(
          new URL('../../element/carillon-inbox.ts', import.meta.url),
        ),
      }),
    ])
    await browser.serveScripts(files, { origin: service.url, entry: script })
    return new ElementPages(service, browser)
  }

  /**
   * `Number 1` is the oldest. The user is signed in at this browser, whose pages are all closed.
   */
  async userWith(count: number): Promise<TestUser> {
    // Those of earlier tests would follow the new user, and take the few connections that the browser opens to one server.
    await Promise.all(this.browser.context.pages().map((page) => page.close()))
    const user = await this.service.user()
    for (let number = 1; number <= count; number++)
      await this.service.deliver({ to: user, title: `Number ${number}` })
    await this.signIn(user)
    return user
  }

  async signIn(user: TestUser): Promise<void> {
    const { cookie = '' } = await this.service.signIn(user, 'stateful')
    const [name = '', value = ''] = cookie.split('=')
    await this.browser.context.clearCookies()
    await this.browser.context.addCookies([{ name, value, url: this.service.url }])
  }

  /** The script is at the end of the head. */
  async open(body: string, { policy = strictPolicy, title = 'Orders' } = {}): Promise<Page> {
    const head = `<meta charset="utf-8"><title>${title}</title><script type="module" src="/${script}"></script>`
    const page = await this.browser.context.newPage()
    // Firefox reports, as an error of the page, that the policy forbids the icon that it requests.
    const note = (error: string) =>
      /^Failed to load resource|\/favicon\.ico because/.test(error) || this.errors.push(error)
    page.on('console', (message) => message.type() === 'error' && note(message.text()))
    page.on('pageerror', (error) => note(error.message))
    await page.route(`${this.service.url}/page.html`, (route) =>
      route.fulfill({
        contentType: 'text/html',
        headers: { 'content-security-policy': policy },
        body: `<!doctype html><html lang="en"><head>${head}</head><body>${body}</body></html>`,
      }),
    )
    await page.goto(`${this.service.url}/page.html`)
    return page
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser[Symbol.asyncDispose]()
    await this.service.stop()
  }
}

/** Returns the part that has the focus, through shadow roots, or the title of a notification. */
export function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    let active = document.activeElement
    while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement
    const title =
      active?.localName === 'article'
        ? active.querySelector('[part=item-title]')?.textContent
        : undefined
    return title ?? (active?.id || active?.getAttribute('part') || active?.localName || '')
  })
}

export async function hasFocus(page: Page, name: string): Promise<void> {
  await becomes(() => focused(page), name)
}
