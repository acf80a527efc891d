// Draws pages in one frame, each in a window or in a telephone, with a line of text above and a
// pointer.
import type { Page } from 'playwright-core'
import type { BrowserPage, BrowserPages } from './browser-page.ts'
import { harbour } from './harbour.ts'

export type View = {
  label: string
  /** Stands beside the label, and says what has just happened there. */
  note?: string | undefined
  isTelephone?: boolean
  /** In pixels of the frame. */
  width: number
  picture: Buffer
}
/** From the upper left corner of the frame. */
export type Place = { x: number; y: number }
export type Contents = {
  views: readonly View[]
  caption?: string
  pointer?: Place
}

/** The screen of a telephone, which is displayed smaller than it is, as it would lie beside a window. */
export const screenWidth = 298

const styles = `body { font-family: Inter, sans-serif; line-height: 1.5 }
  #frame { position: relative; display: grid; grid-template-columns: auto auto; gap: 20px 32px; inline-size: max-content; padding: 28px 36px 36px;
    background: light-dark(#dfe1ee, #262833) }
  #caption { grid-column: 1 / -1; margin: 0; font-size: 20px; font-weight: 600 }
  figure { display: grid; grid-template-rows: auto 1fr; margin: 0 }
  figure.telephone:nth-of-type(n + 3) { grid-area: 2 / 2 / span 2 }
  figcaption { display: flex; gap: 10px; align-items: center; block-size: 24px; padding-block-end: 8px; font-size: 14px; font-weight: 500;
    color: light-dark(#4b4d5e, #b9bac8) }
  figcaption b { padding: 0 10px; border-radius: 12px; background: light-dark(#4346d3, #a9acff); color: light-dark(#fff, #14151c); font-weight: 600 }
  img { display: block; border: 1px solid light-dark(#c9cbdb, #3b3d4a); border-radius: 12px; box-shadow: 0 10px 30px rgb(20 20 50 / 14%) }
  .telephone img { box-sizing: content-box; border: 7px solid light-dark(#2a2b36, #0a0a0e); border-radius: 34px }
  #pointer { position: absolute }`
const pointer =
  '<svg width="22" height="30" viewBox="0 0 22 30"><path d="M2 2v21l5.2-4.6 3.6 8.6 4-1.7-3.6-8.4H18z" fill="#111" stroke="#fff" stroke-width="1.8"/></svg>'

export class Frame implements AsyncDisposable {
  readonly #opened: BrowserPage

  private constructor(opened: BrowserPage) {
    this.#opened = opened
  }

  get page(): Page {
    return this.#opened.page
  }

  static async open(
    pages: BrowserPages,
    look: { theme: 'light' | 'dark'; scale: number },
  ): Promise<Frame> {
    const opened = await pages.open('/empty', { ...look, site: harbour, width: 1200, height: 900 })
    await opened.page.addStyleTag({ content: styles })
    return new Frame(opened)
  }

  async picture(contents: Contents): Promise<Buffer> {
    const { page } = this
    await page.evaluate(
      async (html) => {
        document.body.innerHTML = html
        await Promise.all([...document.images].map((image) => image.decode()))
      },
      `<div id="frame">${htmlOf(contents)}</div>`,
    )
    return page.locator('#frame').screenshot()
  }

  async placeOfFirst(): Promise<Place> {
    const box = await this.page.locator('img').first().boundingBox()
    return box ?? { x: 0, y: 0 }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened[Symbol.asyncDispose]()
  }
}

function htmlOf({ views, caption, pointer: at }: Contents): string {
  const above = caption === undefined ? '' : `<p id="caption">${caption}</p>`
  const cursor = at
    ? `<div id="pointer" style="left: ${at.x}px; top: ${at.y}px">${pointer}</div>`
    : ''
  return above + views.map(figureOf).join('') + cursor
}

function figureOf({ label, note, isTelephone, width, picture }: View): string {
  const about = note === undefined ? label : `${label} <b>${note}</b>`
  const source = `data:image/png;base64,${picture.toString('base64')}`
  return `<figure class="${isTelephone ? 'telephone' : ''}"><figcaption>${about}</figcaption><img src="${source}" width="${width}"></figure>`
}
