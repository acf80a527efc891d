// The routes of the API's own description: the OpenAPI document, and a page that displays it. The page has no script and loads nothing
// from other hosts (docs/decisions/0007), so nearly the same strict content policy applies as to every other response.
import type { FastifyReply } from 'fastify'
import type { Dependencies } from '../dependencies.ts'
import { sendJson } from '../response/send.ts'
import type { GuardedRequest, Operation } from './operation.ts'

export const openApi: Operation<null> = {
  id: 'getOpenApi',
  tag: 'documentation',
  summary: 'This description (OpenAPI 3.1)',
  responses: { 200: 'json' },
  handle: sendOpenApi,
}

async function sendOpenApi({ documentation }: Dependencies, _: GuardedRequest<null>, reply: FastifyReply) {
  return sendJson(reply, documentation.json())
}

/** The path of the page as browsers see it, behind a proxy that strips the path of the public URL. */
export function docsPath(publicUrl: string): string {
  return `${new URL(publicUrl).pathname.replace(/\/$/, '')}/docs`
}

export const page: Operation<null> = {
  id: 'getDocs',
  tag: 'documentation',
  summary: 'This description, to read',
  responses: { 200: 'html' },
  handle: sendPage,
}

async function sendPage({ documentation }: Dependencies, _: GuardedRequest<null>, reply: FastifyReply) {
  return reply
    .header(
      'content-security-policy',
      "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    )
    .type('text/html; charset=utf-8')
    .send(documentation.page())
}

export const style: Operation<null> = {
  id: 'getDocsStyle',
  tag: 'documentation',
  summary: 'The style sheet of that page',
  responses: { 200: 'css' },
  handle: sendStyle,
}

async function sendStyle({ documentation }: Dependencies, _: GuardedRequest<null>, reply: FastifyReply) {
  return reply.type('text/css; charset=utf-8').send(documentation.style())
}
