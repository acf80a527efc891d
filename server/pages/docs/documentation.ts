// The texts of the documentation, which are the same for every reader. Each is made at its first request and kept: anyone can request it.
import { readFileSync } from 'node:fs'
import type { Route } from '../../http/operation.ts'
import { KeptTexts } from '../../http/response/encoded-file.ts'
import { openApi } from '../../http/openapi/openapi.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

export function documentationOf(
  routes: readonly Route[],
  { url, cookieName }: { url: () => string; cookieName: string },
) {
  return {
    document: once(() => openApi(routes, { version, url: url(), cookieName })),
    style: once(() => readFileSync(new URL('documentation.css', import.meta.url), 'utf8')),
    /** The document as JSON and the variants of its page. */
    kept: new KeptTexts(),
  }
}

function once<Value extends string | object>(make: () => Value): () => Value {
  let made: Value | undefined
  return () => (made ??= make())
}
