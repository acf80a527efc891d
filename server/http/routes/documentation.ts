// The API's own description: the OpenAPI document, and a page that shows it. The page has no script and loads nothing
// from elsewhere (docs/decisions/0007), so the strict content policy of every other answer holds for it too.
import { readFileSync } from 'node:fs'
import { documentationPage } from '../openapi/documentation-page.ts'
import { openApi } from '../openapi/openapi.ts'
import { sendJson } from '../response/send.ts'
import type { Operation, Route } from './operation.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** Each text is made once: making one takes 0.4 ms of the event loop, and anybody can request it. */
export function documentationOperations(routes: () => Route[]) {
  const described = once(() => openApi(routes(), version))
  const documentText = once(() => JSON.stringify(described(), null, 2))
  const pageText = once(() => documentationPage(described()))
  const styleText = once(() => readFileSync(new URL('../openapi/documentation.css', import.meta.url), 'utf8'))

  const openApiDocument: Operation<null> = {
    summary: 'This description (OpenAPI 3.1)',
    responses: { 200: 'text' },
    handle: async (_, _request, reply) => sendJson(reply, documentText()),
  }
  const page: Operation<null> = {
    summary: 'This description, to read',
    responses: { 200: 'text' },
    handle: async (_, _request, reply) =>
      reply
        .header(
          'content-security-policy',
          "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        )
        .type('text/html; charset=utf-8')
        .send(pageText()),
  }
  const style: Operation<null> = {
    summary: 'The look of that page',
    responses: { 200: 'text' },
    handle: async (_, _request, reply) => reply.type('text/css; charset=utf-8').send(styleText()),
  }
  return { openApi: openApiDocument, page, style }
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
