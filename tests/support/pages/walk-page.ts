// The demonstration as a reader sees it, and the bytes that were on the wire meanwhile.
import type { Locator } from 'playwright-core'
import type { ExperimentId } from '../../../demonstration/page/experiments/experiments.ts'
import { hashOf } from '../../../demonstration/page/places.ts'
import type { StepId } from '../../../demonstration/page/walk.ts'
import type { Lane } from '../../../demonstration/page/world.ts'
import { TcpProxy } from '../network/tcp-proxy.ts'
import type { BrowserPage, BrowserPages, PageOptions } from './browser-page.ts'

export type Displayed = { head: string[]; body: string }

export class WalkPage implements AsyncDisposable {
  readonly opened: BrowserPage

  constructor(opened: BrowserPage) {
    this.opened = opened
  }

  static async open(
    pages: BrowserPages,
    path = '/demonstration',
    options: PageOptions = {},
  ): Promise<WalkPage> {
    return new WalkPage(await pages.open(path, options))
  }

  get page() {
    return this.opened.page
  }

  /** Opens what is folded in a lane. */
  async unfold(lane: Lane): Promise<void> {
    const fold = this.lane(lane).locator('.fold')
    if ((await fold.getAttribute('open')) === null) await fold.locator('> summary').click()
  }

  async next(id: StepId): Promise<void> {
    await this.page.locator('#next').click()
    await this.arrived(id)
  }

  async arrived(id: StepId): Promise<void> {
    await this.page.locator(`.steps [aria-current][href="#${id}"]`).waitFor()
  }

  lane(lane: Lane): Locator {
    return this.page.locator(`.lane.lane-${lane}`)
  }

  async statuses(lane: Lane): Promise<number[]> {
    return (await this.lane(lane).locator('.exchange .status').allTextContents()).map(Number)
  }

  /** Requests and responses in turn. */
  async displayed(lane: Lane): Promise<Displayed[]> {
    const texts = await this.lane(lane).locator('pre.wire').allTextContents()
    return texts.map((text) => {
      const [head = '', ...body] = text.split('\n\n')
      return { head: head.split('\n'), body: body.join('\n\n') }
    })
  }

  /** Follows a link within the page. */
  async go(hash: string): Promise<void> {
    await this.page.evaluate((to) => location.assign(to), hash)
  }

  /** Predicts the same of each arrow, and goes to the last hop. */
  async experiment(id: ExperimentId, answer: 'first' | 'last' = 'first'): Promise<Locator> {
    const experiment = await this.run(id, answer)
    // The run has moved the focus. Not every browser can be told to prefer no motion.
    await experiment.locator('[type=range]:focus').waitFor()
    await this.page.keyboard.press('End')
    return experiment
  }

  async run(id: ExperimentId, answer: 'first' | 'last'): Promise<Locator> {
    // In Firefox, nothing has the focus in a tab behind another.
    await this.page.bringToFront()
    await this.go(hashOf(id))
    await this.page.locator(`input[name^="${id} "]`).first().waitFor()
    for (const arrow of await this.page.locator('.prediction').all())
      await arrow.locator('label')[answer]().click()
    await this.page.locator('.acts .primary').click()
    const experiment = this.page.locator('.experiment')
    await experiment.locator('.finding').waitFor()
    return experiment
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.opened[Symbol.asyncDispose]()
  }
}

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

  /** `…` stands for the value of a cookie that the record does not have. */
  saw(direction: 'to server' | 'to client', { head, body }: Displayed): boolean {
    const escaped = head.map((line) => RegExp.escape(line).replaceAll('…', '[^;\\r\\n]+'))
    const text = Buffer.from(body).toString('latin1')
    return new RegExp(`${escaped.join('\\r\\n')}\\r\\n\\r\\n${RegExp.escape(text)}`).test(
      this.#bytes[direction],
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy[Symbol.asyncDispose]()
  }
}
