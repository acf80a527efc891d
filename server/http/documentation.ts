// The API's own description: the OpenAPI document, and a page that shows it. The page has no script and loads nothing
// from elsewhere (docs/decisions/0007), so the strict content policy of every other answer holds for it too.
import { readFileSync } from 'node:fs'
import { sendJson } from './answers.ts'
import { documentationPage } from './documentation-page.ts'
import { openApi } from './openapi.ts'
import type { Operation, Route } from './operation.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

export function documentationOperations(routes: () => Route[]) {
  let document: object | undefined
  const described = () => (document ??= openApi(routes(), version))

  const openApiDocument: Operation<null> = {
    summary: 'This description (OpenAPI 3.1)',
    answers: { 200: 'text' },
    handle: async (_, _request, reply) => sendJson(reply, JSON.stringify(described(), null, 2)),
  }
  const page: Operation<null> = {
    summary: 'This description, to read',
    answers: { 200: 'text' },
    handle: async (_, _request, reply) =>
      reply
        .header(
          'content-security-policy',
          "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        )
        .type('text/html; charset=utf-8')
        .send(documentationPage(described())),
  }
  const style: Operation<null> = {
    summary: 'The look of that page',
    answers: { 200: 'text' },
    handle: async (_, _request, reply) =>
      reply.type('text/css; charset=utf-8').send(readFileSync(new URL('./documentation.css', import.meta.url), 'utf8')),
  }
  return { openApi: openApiDocument, page, style }
}
