import { forAnyone } from '../http/operation.ts'
import { sendStyleSheet } from '../http/response/send.ts'
import type { Pages } from './page.ts'

export const theme = forAnyone({
  summary: 'The style sheet with the accent colour of `CARILLON_ACCENT`; empty without that setting',
  responses: { 200: 'css' },
  async handle({ pages }: { pages: Pages }, _, reply) {
    const { themeCss } = await import('./theme.ts')
    return sendStyleSheet(reply, pages.accent === undefined ? '' : themeCss(pages.accent))
  },
})

export const logo = forAnyone({
  summary: 'The picture of `CARILLON_LOGO`, or the bell of Carillon',
  responses: { 200: 'image' },
  /** The default policy allows nothing, so a script in an SVG does not run if the picture is opened by itself. */
  async handle({ pages }: { pages: Pages }, _, reply) {
    const { logo: chosen, scripts } = pages
    const { bytes, type } = chosen ?? {
      ...scripts.file(scripts.hashed('favicon.svg'), undefined),
      type: 'image/svg+xml',
    }
    return reply.header('cache-control', 'public, max-age=300').type(type).send(bytes)
  },
})
