// For tests: the experiments of the demonstration as a reader uses them, and what the browser saw of the requests to the visitor's service.
import type { Locator, Page, Response } from 'playwright-core'
import type { Answer, ExperimentId } from '../../../pages/demonstration/experiments/experiment.ts'
import { anchorOf } from '../../../pages/demonstration/experiments/view/experiment-view.ts'
import type { Exchange } from '../../../pages/demonstration/world.ts'

export type Lane = 'session' | 'token'
/** A line of a result, such as `GET /routeRestreinte` and 401. */
export type Line = { line: string; status: number }

export class ExperimentsPage {
  readonly page: Page
  /** Each response of the visitor's service that the browser received, by the number of its exchange. */
  readonly seen = new Map<number, Line>()

  constructor(page: Page) {
    this.page = page
    page.on('response', (response) => this.#note(response))
  }

  #note(response: Response): void {
    const n = response.headers()['carillon-exchange']
    if (n === undefined) return
    const path = new URL(response.url()).pathname.split('/demonstration/service')[1]
    this.seen.set(Number(n), { line: `${response.request().method()} ${path}`, status: response.status() })
  }

  of(id: ExperimentId): Locator {
    return this.page.locator(`#${anchorOf(id)}`)
  }

  /** Opens it, if it is not open. */
  async show(id: ExperimentId): Promise<Locator> {
    const experiment = this.of(id)
    if ((await experiment.getAttribute('open')) === null) await experiment.locator('> summary').click()
    return experiment
  }

  /** The first choice of each lane is `yes`. */
  async predict(id: ExperimentId, predicted: Record<Lane, Answer>): Promise<void> {
    const experiment = await this.show(id)
    for (const lane of ['session', 'token'] as const)
      await experiment
        .locator(`fieldset.lane-${lane}`)
        .getByRole('radio')
        .nth(predicted[lane] === 'yes' ? 0 : 1)
        .check()
  }

  async start(id: ExperimentId): Promise<void> {
    await this.of(id).locator('form button').click()
  }

  async result(id: ExperimentId): Promise<Locator> {
    const result = this.of(id).locator('.result')
    await result.waitFor({ timeout: 60_000 })
    return result
  }

  /** The lines of a result that are exchanges, as they are displayed. */
  async lines(id: ExperimentId, lane: Lane): Promise<Line[]> {
    const facts = await this.of(id).locator(`.measured.lane-${lane} .facts > li`).all()
    const lines = await Promise.all(
      facts.map(async (fact) => {
        if ((await fact.locator('> strong').count()) === 0) return []
        const [line, status] = await Promise.all([
          fact.locator('> code').first().textContent(),
          fact.locator('> strong').textContent(),
        ])
        return [{ line: line ?? '', status: Number(status) }]
      }),
    )
    return lines.flat()
  }

  /** The messages of a result as they are displayed: requests and responses in turn. */
  async messages(id: ExperimentId): Promise<{ head: string[]; body: string }[]> {
    const texts = await this.of(id).locator('.facts pre.wire').allTextContents()
    return texts.map((text) => {
      const [head = '', ...body] = text.split('\n\n')
      return { head: head.split('\n'), body: body.join('\n\n') }
    })
  }

  /** What the server has of an exchange of this visitor. */
  async exchange(n: number): Promise<Exchange> {
    const url = new URL(`demonstration/exchanges/${n}`, this.page.url()).href
    const response = await this.page.context().request.get(url)
    return (await response.json()).data
  }
}
