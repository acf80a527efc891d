// For tests: the walk of the demonstration as a reader sees it, and the bytes that were on the wire meanwhile.
import type { Locator } from 'playwright-core'
import type { StepId } from '../../../pages/demonstration/steps.ts'
import type { Lane } from '../../../pages/demonstration/world.ts'
import { TcpProxy } from '../network/tcp-proxy.ts'
import type { BrowserPage, BrowserPages, PageOptions } from './browser-page.ts'

/** One message as the page displays it, with all fields. */
export type Displayed = { head: string[]; body: string }

export class WalkPage implements AsyncDisposable {
  readonly opened: BrowserPage

  constructor(opened: BrowserPage) {
    this.opened = opened
    // The first step, which shows that there is no answer without proof.
    opened.expects(/^401 GET .*\/routeRestreinte$/)
  }

  static async open(pages: BrowserPages, path = '/demonstration', options: PageOptions = {}): Promise<WalkPage> {
    return new WalkPage(await pages.open(path, options))
  }

  get page() {
    return this.opened.page
  }

  /** Presses the button for the next step. */
  async next(id: StepId): Promise<void> {
    await this.page.locator('#next').click()
    await this.arrived(id)
  }

  async arrived(id: StepId): Promise<void> {
    await this.page.locator(`h2#${id}`).waitFor({ timeout: 20_000 })
  }

  lane(lane: Lane): Locator {
    return this.page.locator(`.lane.lane-${lane}`)
  }

  async status(lane: Lane): Promise<string> {
    return (await this.lane(lane).locator('.status').textContent()) ?? ''
  }

  async displayed(lane: Lane, kind: 'request' | 'response'): Promise<Displayed> {
    const message = this.lane(lane).locator(`.message.${kind}`)
    if ((await message.getByRole('button').getAttribute('aria-expanded')) === 'false')
      await message.getByRole('button').click()
    const head = await message.locator('.wire > .line').allTextContents()
    const body = await message.locator('.body').allTextContents()
    return { head, body: body.join('') }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.opened[Symbol.asyncDispose]()
  }
}

/** A proxy that passes every byte on and keeps them all. */
export class RecordingProxy implements AsyncDisposable {
  readonly #proxy: TcpProxy
  readonly #bytes = { 'to server': '', 'to client': '' }
  readonly url: string

  private constructor(proxy: TcpProxy, url: string) {
    this.#proxy = proxy
    this.url = proxy.urlFor(url).replace(/\/$/, '')
    proxy.intercept = ({ direction, bytes }) => {
      this.#bytes[direction] += bytes.toString('latin1')
      return undefined
    }
  }

  static async to(url: string): Promise<RecordingProxy> {
    return new RecordingProxy(await TcpProxy.to(Number(new URL(url).port)), url)
  }

  /** Whether exactly this was on the wire. `…` stands for the value of a cookie that the record does not have. */
  saw(direction: 'to server' | 'to client', { head, body }: Displayed): boolean {
    const escaped = head.map((line) => RegExp.escape(line).replaceAll('…', '[^;\\r\\n]+'))
    const text = Buffer.from(body).toString('latin1')
    return new RegExp(`${escaped.join('\\r\\n')}\\r\\n\\r\\n${RegExp.escape(text)}`).test(this.#bytes[direction])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy[Symbol.asyncDispose]()
  }
}
