// The texts of the documentation, which are the same for every reader. Each is made at its first request and kept: anyone can request it.
import { readFileSync } from 'node:fs'
import { version } from '../../basics/version.ts'
import { type Document, openApi } from '../../http/openapi/openapi.ts'
import type { Route } from '../../http/operation.ts'
import { KeptTexts } from '../../http/response/encoded-file.ts'

/** The description of the API. `kept`: the document as JSON and the variants of its page. */
export type Documentation = { document: () => Document; style: () => string; kept: KeptTexts }

export function documentationOf(
  routes: readonly Route[],
  { url, cookieName }: { url: () => string; cookieName: string },
): Documentation {
  return {
    document: once(() => openApi(routes, { version, url: url(), cookieName })),
    style: once(() => readFileSync(new URL('documentation.css', import.meta.url), 'utf8')),
    kept: new KeptTexts(),
  }
}

function once<Value extends string | object>(make: () => Value): () => Value {
  let made: Value | undefined
  return () => (made ??= make())
}
