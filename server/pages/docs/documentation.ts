// The description of the API, made from the table of routes.
import { version } from '../../basics/version.ts'
import { type Document, openApi } from '../../http/openapi/openapi.ts'
import type { Route } from '../../http/operation.ts'
import type { KeptTexts } from '../../http/response/send.ts'
import type { Site } from '../../http/site.ts'

export type Documentation = { document: () => Document; kept: KeptTexts }

export function documentationOf(
  routes: readonly Route[],
  { publicUrl, cookie }: Site,
): Documentation {
  return {
    document: () => openApi(routes, { version, url: publicUrl(), cookieName: cookie.name }),
    kept: new Map(),
  }
}
