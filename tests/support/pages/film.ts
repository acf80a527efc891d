// Records several pages in one frame, picture by picture.
import type { Locator, Page } from 'playwright-core'
import type { Frame, Place, View } from './frame.ts'

type Screen = Omit<View, 'picture' | 'note'> & { page: Page }

const steps = { count: 6, ms: 120 }

export class Film {
  readonly frames: { picture: Buffer; ms: number }[] = []
  readonly #frame: Frame
  readonly #screens: readonly Screen[]
  #caption = ''
  #views: readonly View[] = []
  #pointer: Place = { x: 560, y: 330 }

  constructor(frame: Frame, screens: readonly Screen[]) {
    this.#frame = frame
    this.#screens = screens
  }

  get ms(): number {
    return this.frames.reduce((sum, { ms }) => sum + ms, 0)
  }

  get last(): Buffer {
    return this.frames.at(-1)?.picture ?? Buffer.alloc(0)
  }

  /** `notes` stand beside the labels of the pages. */
  async show(caption: string, notes: readonly string[] = []): Promise<void> {
    this.#caption = caption
    const views: View[] = []
    for (const [index, { page, ...screen }] of this.#screens.entries()) {
      const picture = await page.screenshot({ animations: 'disabled', caret: 'hide' })
      views.push({ ...screen, note: notes[index], picture })
    }
    this.#views = views
  }

  async hold(ms: number): Promise<void> {
    const contents = { views: this.#views, caption: this.#caption, pointer: this.#pointer }
    this.frames.push({ picture: await this.#frame.picture(contents), ms })
  }

  async pointAt(part: Locator): Promise<void> {
    const from = this.#pointer
    const to = await this.#placeOf(part)
    for (let step = 1; step <= steps.count; step++) {
      const done = step / steps.count
      this.#pointer = { x: from.x + (to.x - from.x) * done, y: from.y + (to.y - from.y) * done }
      await this.hold(steps.ms)
    }
  }

  async #placeOf(part: Locator): Promise<Place> {
    const box = await part.boundingBox()
    const screen = await this.#frame.placeOfFirst()
    if (!box) throw new Error('it is not displayed')
    return { x: screen.x + box.x + box.width / 2, y: screen.y + box.y + box.height / 2 }
  }
}
