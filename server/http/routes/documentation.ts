// The routes of the API's own description: the OpenAPI document, and the style sheet of the page that displays it (pages/docs.ts).
import type { FastifyReply } from 'fastify'
import type { Dependencies } from '../dependencies.ts'
import { acceptedOf, sendEncoded } from '../response/encoded-file.ts'
import { jsonType } from '../response/send.ts'
import type { GuardedRequest, Operation } from './operation.ts'

type Request = GuardedRequest<null>

export const openApi: Operation<null> = {
  id: 'getOpenApi',
  tag: 'documentation',
  summary: 'This description (OpenAPI 3.1)',
  headers: { 'If-None-Match': 'The ETag of an earlier response: unchanged is 304' },
  responses: { 200: 'json', 304: 'none' },
  handle: sendOpenApi,
}

async function sendOpenApi({ documentation }: Dependencies, request: Request, reply: FastifyReply) {
  reply.headers({ 'cache-control': 'no-cache', vary: 'Origin, Accept-Encoding' }).type(jsonType)
  const files = await documentation.kept.get('json', () => JSON.stringify(documentation.document(), null, 2))
  return sendEncoded(request, reply, acceptedOf(files, request.headers['accept-encoding']))
}

/** The path of the page as browsers see it, behind a proxy that strips the path of the public URL. */
export function docsPath(publicUrl: string): string {
  return `${new URL(publicUrl).pathname.replace(/\/$/, '')}/docs`
}

export const style: Operation<null> = {
  id: 'getDocsStyle',
  tag: 'documentation',
  summary: 'The style sheet of the page of this description',
  responses: { 200: 'css' },
  handle: sendStyle,
}

async function sendStyle({ documentation }: Dependencies, _: Request, reply: FastifyReply) {
  return reply
    .header('cache-control', 'public, max-age=300')
    .type('text/css; charset=utf-8')
    .send(documentation.style())
}
