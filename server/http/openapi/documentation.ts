// The documentation's texts. Each is made at its first request and kept: it takes 0.4 ms, and anyone can request it.
import { readFileSync } from 'node:fs'
import type { Route } from '../routes/operation.ts'
import { documentationPage } from './documentation-page.ts'
import { openApi } from './openapi.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

export function documentationOf(
  routes: readonly Route[],
  { url, cookieName }: { url: () => string; cookieName: string },
) {
  const document = once(() => openApi(routes, { version, url: url(), cookieName }))
  return {
    json: once(() => JSON.stringify(document(), null, 2)),
    page: once(() => documentationPage(document())),
    style: once(() => readFileSync(new URL('documentation.css', import.meta.url), 'utf8')),
  }
}

function once<Value extends string | object>(make: () => Value): () => Value {
  let made: Value | undefined
  return () => (made ??= make())
}
