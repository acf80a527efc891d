// What the settings add to the look of the pages: the shades of the accent colour, and the operator's picture.
import type { FastifyReply } from 'fastify'
import type { Dependencies } from '../../dependencies.ts'
import { sendStyleSheet } from '../../response/send.ts'
import type { GuardedRequest, Operation } from '../operation.ts'

export const theme: Operation<null> = {
  id: 'getPageTheme',
  tag: 'pages',
  summary: 'The style sheet with the accent colour of `CARILLON_ACCENT`; empty without that setting',
  responses: { 200: 'css' },
  handle: sendTheme,
}

async function sendTheme({ pages }: Dependencies, _: GuardedRequest<null>, reply: FastifyReply) {
  const { themeCss } = await import('../../../pages/theme.ts')
  return sendStyleSheet(reply, pages.accent === undefined ? '' : themeCss(pages.accent))
}

export const logo: Operation<null> = {
  id: 'getPageLogo',
  tag: 'pages',
  summary: 'The picture of `CARILLON_LOGO`, or the bell of Carillon',
  responses: { 200: 'image' },
  handle: sendLogo,
}

/** The default policy allows nothing, so a script in an SVG does not run if the picture is opened by itself. */
async function sendLogo({ pages, scripts }: Dependencies, _: GuardedRequest<null>, reply: FastifyReply) {
  const { bytes, type } = pages.logo ?? {
    ...scripts.file(scripts.hashed('favicon.svg'), undefined),
    type: 'image/svg+xml',
  }
  return reply.header('cache-control', 'public, max-age=300').type(type).send(bytes)
}
