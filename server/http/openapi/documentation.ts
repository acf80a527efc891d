// The texts of the documentation routes: the OpenAPI document, the page and its style sheet. Each is made at its first request
// and kept, since making one takes 0.4 ms of the event loop and the routes are open to everyone.
import { readFileSync } from 'node:fs'
import type { Route } from '../routes/operation.ts'
import { documentationPage } from './documentation-page.ts'
import { openApi } from './openapi.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

export class Documentation {
  readonly #routes: readonly Route[]
  #document: object | undefined
  #json: string | undefined
  #page: string | undefined
  #style: string | undefined

  constructor(routes: readonly Route[]) {
    this.#routes = routes
  }

  get json(): string {
    this.#json ??= JSON.stringify(this.#described, null, 2)
    return this.#json
  }

  get page(): string {
    this.#page ??= documentationPage(this.#described)
    return this.#page
  }

  get style(): string {
    this.#style ??= readFileSync(new URL('documentation.css', import.meta.url), 'utf8')
    return this.#style
  }

  get #described(): object {
    this.#document ??= openApi(this.#routes, version)
    return this.#document
  }
}
