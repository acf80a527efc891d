// Drives a page with a bell by roles and names, as its reader does, and collects what the browser
// complains of.
import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import type { Chromium } from '../../support/chromium.ts'

export class BellPage implements AsyncDisposable {
  readonly page: Page
  /**
   * Has console errors, uncaught errors, reports of a Content-Security-Policy, and requests to
   * other hosts.
   */
  readonly complaints: string[] = []

  private constructor(page: Page) {
    this.page = page
  }

  /** The page may send requests to these origins only. */
  static async open(
    chromium: Chromium,
    url: string,
    origins: readonly string[] = [url],
  ): Promise<BellPage> {
    await chromium.context.clearCookies()
    const opened = new BellPage(await chromium.context.newPage())
    opened.#watch(origins)
    await opened.page.addInitScript(() =>
      document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
        console.error(`blocked by ${violatedDirective}: ${blockedURI}`),
      ),
    )
    const response = await opened.page.goto(url)
    assert.match(response?.headers()['content-security-policy'] ?? '', /^default-src 'self'/)
    return opened
  }

  #watch(origins: readonly string[]): void {
    const { page, complaints } = this
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith('data:') && !origins.includes(new URL(url).origin))
        complaints.push(`requests ${url}`)
    })
  }

  bell(unread: number): Locator {
    const name = unread === 0 ? 'Notifications' : `Notifications, ${unread} unread`
    return this.page.getByRole('button', { name, exact: true })
  }

  async openPanel(): Promise<void> {
    const bell = this.page.getByRole('button', { name: /^Notifications/ })
    if ((await bell.getAttribute('aria-expanded')) !== 'true') await bell.click()
    await this.page.getByRole('dialog').waitFor()
  }

  async lists(titles: readonly string[]): Promise<void> {
    await this.openPanel()
    await this.page
      .getByRole('article')
      .nth(titles.length - 1)
      .waitFor()
    assert.deepEqual(
      await this.page.locator('carillon-bell [part~=item-title]').allTextContents(),
      titles,
    )
  }

  async press(name: string): Promise<void> {
    await this.openPanel()
    await this.page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
  }

  async listsBeside(titles: readonly string[], unread: number): Promise<void> {
    await this.page.locator('output', { hasText: new RegExp(`^${unread}$`) }).waitFor()
    await this.page
      .getByRole('main')
      .getByRole('listitem')
      .nth(titles.length - 1)
      .waitFor()
    const items = await this.page.getByRole('main').getByRole('listitem').allTextContents()
    assert.deepEqual(
      items.map((item) => item.replace(/Mark as read|Archive|Snooze/g, '').trim()),
      titles,
    )
  }

  /**
   * The inbox has one unread notification. `send` sends one; `lists` is called after it, for other
   * lists of the page.
   */
  async walk(walk: Walk): Promise<void> {
    await this.#walk(walk).catch((error) => {
      throw new Error(`The page reports: ${this.complaints.join('; ') || 'nothing'}`, {
        cause: error,
      })
    })
    assert.deepEqual(this.complaints, [])
  }

  /**
   * Signs in again by `signIn`, for which the page shows its form or the bell a link; the inbox
   * then shows this title.
   */
  async signOutAndIn(title: string, signIn: () => Promise<void>): Promise<void> {
    await this.page.getByRole('button', { name: 'Sign out' }).click()
    await signIn()
    await this.openPanel()
    await this.page.getByRole('dialog').getByText(title).waitFor()
    // The browser reports the 401 by which the page learns that it gets no token.
    assert.deepEqual(
      this.complaints.filter((complaint) => !complaint.includes('status of 401')),
      [],
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.close()
  }

  async #walk({ first, send, beside }: Walk): Promise<void> {
    const { page } = this
    await this.bell(1).waitFor()
    await beside?.([first], 1)
    const second = await send()
    await this.bell(2).waitFor()
    assert.equal((await page.locator('carillon-bell [part~=badge]').textContent())?.trim(), '2')
    await this.lists([second.title, first])
    await beside?.([second.title, first], 2)
    await page.getByRole('dialog').getByText(second.title).click()
    await page.waitForURL(`**${second.url}`)
    await this.bell(1).waitFor()
    await this.press('Mark all as read')
    await this.bell(0).waitFor()
    await beside?.([second.title, first], 0)
    await this.press('Undo')
    await this.bell(1).waitFor()
    await page.reload()
    await this.bell(1).waitFor()
    await this.lists([second.title, first])
    await this.press('Mark all as read')
    await this.bell(0).waitFor()
    await page.reload()
    await this.bell(0).waitFor()
    await beside?.([second.title, first], 0)
  }
}

export type Walk = {
  first: string
  send: () => Promise<{ title: string; url: string }>
  beside?: (titles: readonly string[], unread: number) => Promise<void>
}
