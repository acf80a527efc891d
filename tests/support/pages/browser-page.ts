// Opens the service's own pages in a real Chromium, each in a profile of its own, and fails the
// test if the browser complained. `url` is that of a proxy.
import assert from 'node:assert/strict'
import type { BrowserContext, Page, Request } from 'playwright-core'
import { Chromium } from '../chromium.ts'
import { untilSo } from '../processes/nodes.ts'
import { startTestService, type TestService, type TestUser } from '../service.ts'
import type { Authenticator } from '../sign-in/authenticator.ts'
import { violationsIn } from './axe.ts'
import type { SiteFile } from './harbour.ts'

export type PageOptions = {
  /** Becomes Accept-Language and `navigator.language`. */
  language?: string
  timeZone?: string
  theme?: 'light' | 'dark'
  width?: number
  height?: number
  scale?: number
  isTelephone?: boolean
  hasScript?: false
  /** The scripts of the page see this time; it stands still. */
  now?: number
  headers?: Readonly<Record<string, string>>
  /** An application has these files at the origin of the service, by their paths. */
  site?: Readonly<Record<string, SiteFile>>
  /** The user signs in at the profile before the page is opened. */
  user?: SignedIn
  /** The page opens as another tab of this page's profile. */
  beside?: BrowserPage
}

/** A user with an authenticator app signs in with a code of it. */
type SignedIn = Omit<TestUser, 'id'> & { app?: Authenticator }
type Place = { service: TestService; browser: Chromium; url: string }

/** The folder gets a picture of each state that a test names, to look at. */
const { SCREENSHOTS, SOAK } = process.env
const isWhole = SOAK !== undefined || SCREENSHOTS !== undefined
const colorSchemes = ['light', 'dark'] as const
let checked = 0

export class BrowserPages implements AsyncDisposable {
  readonly service: TestService
  readonly browser: Chromium
  /** Has no slash at its end; `host: 'localhost'` is for passkeys, which no address can have. */
  readonly url: string

  private constructor({ service, browser, url }: Place) {
    this.service = service
    this.browser = browser
    this.url = url
  }

  static async start({
    env = {},
    service: given,
    url,
    host = '127.0.0.1',
  }: {
    env?: Record<string, string>
    service?: TestService
    url?: string
    host?: string
  } = {}): Promise<BrowserPages> {
    const [service, browser] = await Promise.all([
      given ?? startTestService({ env }),
      Chromium.start(),
    ])
    return new BrowserPages({
      service,
      browser,
      url: url ?? service.url.replace('127.0.0.1', host),
    })
  }

  /** `path`: such as `/account#sessions`, or a whole address. Waits until the page is loaded. */
  async open(path: string, options: PageOptions = {}): Promise<BrowserPage> {
    const context = options.beside?.context ?? (await this.#profile(options))
    if (options.user !== undefined) await this.signIn(context, options.user)
    const opened = new BrowserPage(await context.newPage(), options.hasScript)
    await opened.page.goto(new URL(path, `${this.url}/`).href === path ? path : this.url + path)
    return opened
  }

  async #profile({
    language = 'en',
    theme = 'light',
    width = 1280,
    height = 800,
    scale = 1,
    isTelephone = false,
    hasScript,
    headers,
    now,
    site = {},
    timeZone,
  }: PageOptions) {
    const context = await this.browser.newContext({
      locale: language,
      ...(timeZone && { timezoneId: timeZone }),
      colorScheme: theme,
      viewport: { width, height },
      deviceScaleFactor: scale,
      isMobile: isTelephone,
      hasTouch: isTelephone,
      reducedMotion: 'reduce',
      javaScriptEnabled: hasScript ?? true,
      ...(headers && { extraHTTPHeaders: headers }),
    })
    if (now !== undefined) await context.clock.setFixedTime(now)
    for (const [path, file] of Object.entries(site))
      await context.route(this.url + path, (route) => route.fulfill(file))
    await context.addInitScript(() =>
      document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
        console.error(`blocked by ${violatedDirective}: ${blockedURI}`),
      ),
    )
    return context
  }

  /** This profile keeps the cookies of `POST /login`. */
  async signIn(context: BrowserContext, { username, password, app }: SignedIn): Promise<void> {
    const post = (path: string, data: object) => context.request.post(this.url + path, { data })
    let response = await post('/login', { username, password, variant: 'stateful' })
    if (app !== undefined) {
      const { challenge } = (await response.json()).error
      this.service.pass(30_000)
      response = await post('/login/second-factor', {
        challenge,
        code: app.code(this.service.now()),
      })
    }
    assert.equal(response.status(), 200, await response.text())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser[Symbol.asyncDispose]()
    await this.service.stop()
  }
}

export class BrowserPage implements AsyncDisposable {
  readonly page: Page
  readonly requests: Request[] = []
  /**
   * Has console errors, uncaught errors, reports of the Content Security Policy, and requests that
   * failed or got a status of 400 or above, such as `401 POST /sign-in`.
   */
  readonly complaints: string[] = []
  readonly #expected: RegExp[] = []
  readonly #hasScript: boolean

  constructor(page: Page, hasScript = true) {
    this.page = page
    this.#hasScript = hasScript
    page.on('console', (message) => {
      // Chromium writes this for each failed request, which `response` reports with its method.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        this.complaints.push(message.text())
    })
    page.on('pageerror', (error) => this.complaints.push(String(error)))
    page.on('request', (request) => this.requests.push(request))
    page.on('requestfailed', (request) => {
      const reason = request.failure()?.errorText
      // The browser aborts these itself when it leaves a page.
      if (!/^(net::ERR|NS_BINDING)_ABORTED$/.test(reason ?? ''))
        this.complaints.push(`${reason} ${callOf(request)}`)
    })
    page.on('response', (response) => {
      if (response.status() >= 400)
        this.complaints.push(`${response.status()} ${callOf(response.request())}`)
    })
  }

  get context(): BrowserContext {
    return this.page.context()
  }

  /** These complaints belong to the test. Each has to come. */
  expects(...complaints: RegExp[]): void {
    this.#expected.push(...complaints)
  }

  get path(): string {
    const { pathname, search, hash } = new URL(this.page.url())
    return pathname + search + hash
  }

  /** Sends the form of the sign-in page. */
  async sendSignIn({ username, password }: Omit<TestUser, 'id'>): Promise<void> {
    await this.page.getByLabel('Username').fill(username)
    await this.page.getByLabel('Password', { exact: true }).fill(password)
    await this.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }

  async heading(name: string | RegExp): Promise<void> {
    await this.page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
  }

  async alerts(sentence: string | RegExp): Promise<void> {
    await this.page.getByRole('alert').filter({ hasText: sentence }).waitFor()
  }

  /** Returns the accessible name of what has the focus, or its text, through shadow roots. */
  focused(): Promise<string> {
    return this.page.evaluate(() => {
      let active = document.activeElement
      while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement
      const label = active instanceof HTMLInputElement ? active.labels?.[0]?.textContent : undefined
      return (active?.getAttribute('aria-label') ?? label ?? active?.textContent ?? '').trim()
    })
  }

  /** Only Chromium refuses to copy without a permission, and only it has one. */
  async mayCopy(): Promise<void> {
    const { context } = this
    if (context.browser()?.browserType().name() === 'chromium')
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  }

  /** Pastes what the page has copied. */
  async clipboard(): Promise<string> {
    const { page } = this
    await page.evaluate(() => {
      const field = document.createElement('textarea')
      field.id = 'clipboard'
      document.body.append(field)
      field.focus()
    })
    const field = page.locator('#clipboard')
    await page.keyboard.press('ControlOrMeta+V')
    let text = ''
    await untilSo(async () => {
      text = await field.inputValue()
      return text !== ''
    })
    await field.evaluate((element) => element.remove())
    return text
  }

  async hasFocus(name: string | RegExp): Promise<void> {
    await becomes(() => this.focused(), name)
  }

  /**
   * Checks the page by the rules of axe, and that it fits its width, also at 320 px. Every day the
   * themes take turns; with SOAK=1 axe checks both, and at 320 px as well.
   */
  async isAccessible(state: string): Promise<void> {
    const { page } = this
    assert.ok(
      this.#hasScript,
      'axe needs script: check this state in a page without `hasScript: false`',
    )
    const size = page.viewportSize() ?? { width: 1280, height: 800 }
    for (const width of new Set([size.width, 320])) {
      await page.setViewportSize({ ...size, width })
      if (width === size.width || isWhole)
        await this.#passesAxe(`${state}${width === 320 ? '-320' : ''}`)
      assert.ok(
        (await page.evaluate(() => document.documentElement.scrollWidth)) <= width,
        `${state} at ${width} px`,
      )
    }
    assert.equal(await page.locator('h1:visible').count(), 1, `${state}: one heading of level 1`)
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme: 'light' })
  }

  async #passesAxe(state: string): Promise<void> {
    const { page } = this
    const themes = isWhole ? colorSchemes : colorSchemes.slice(checked++ % 2).slice(0, 1)
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme })
      const name = `${state}-${colorScheme}`
      if (SCREENSHOTS !== undefined)
        await page.screenshot({ path: `${SCREENSHOTS}/${name}.png`, fullPage: true })
      assert.deepEqual(await violationsIn(page), [], name)
    }
  }

  /** The last tab closes its profile too. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { context } = this
    await this.page.close()
    if (context.pages().length === 0) await context.close()
    const isExpected = (complaint: string) =>
      this.#expected.some((expected) => expected.test(complaint))
    const unexpected = this.complaints.filter((complaint) => !isExpected(complaint))
    assert.deepEqual(unexpected, [], `complaints of ${this.page.url()}`)
    for (const expected of this.#expected)
      assert.ok(
        this.complaints.some((one) => expected.test(one)),
        String(expected),
      )
  }
}

/** Waits: browsers move the focus only after a page is loaded (`autofocus`), a dialog is displayed, or an event was handled. */
export async function becomes(read: () => Promise<string>, wanted: string | RegExp): Promise<void> {
  let found = ''
  const isSo = async () => {
    found = await read()
    return typeof wanted === 'string' ? found === wanted : wanted.test(found)
  }
  await untilSo(isSo).catch((cause: unknown) => {
    throw new Error(`it is "${found}", not ${wanted}`, { cause })
  })
}

function callOf(request: Request): string {
  return `${request.method()} ${new URL(request.url()).pathname}`
}
