// Anyone can request these documents, so each is made once.
import { readFileSync } from 'node:fs'
import type { Document } from '../../http/openapi/openapi.ts'
import { forAnyone, forVisitor } from '../../http/operation.ts'
import { jsonType, keptText, sendEncoded, sendStyleSheet } from '../../http/response/send.ts'
import type { View } from '../frame.ts'
import { type PageNeeds, setPageHeaders, viewFor } from '../page.ts'
import type { Documentation } from './documentation.ts'

const headers = { 'If-None-Match': 'The ETag of an earlier response: unchanged is 304' }

type Needs = { documentation: Documentation }

export const docs = forVisitor({
  summary: 'This description, to read',
  headers,
  responses: { 200: 'html', 304: 'none' },
  async handle(dependencies: PageNeeds & Needs, request, reply) {
    const view = await viewFor(dependencies, request)
    const variant = `${view.language} ${view.canSignOut ? 'signed-in' : 'signed-out'}`
    const { document, kept } = dependencies.documentation
    const files = await keptText(kept, variant, () => render(view, document()))
    setPageHeaders(reply)
    return sendEncoded(request, reply.header('cache-control', 'no-cache'), files)
  },
})

async function render(view: View, document: Document): Promise<string> {
  const { documentOf } = await import('../frame.ts')
  const { documentationPage } = await import('./documentation-page.ts')
  const title = view.texts.documentation
  const nameless = {
    ...view,
    user: view.canSignOut ? '' : undefined,
    file: (name: string) =>
      name === 'documentation.css' ? `${view.root}docs/style.css` : view.file(name),
  }
  return documentOf(nameless, {
    title,
    current: 'docs',
    isWide: true,
    scripts: ['page-docs.js'],
    styles: ['documentation.css'],
    main: documentationPage(document, { title, ...(await view.textsOf('service')).docs }),
  })
}

export const openApi = forAnyone({
  summary: 'This description (OpenAPI 3.1)',
  headers,
  responses: { 200: 'json', 304: 'none' },
  async handle({ documentation }: Needs, request, reply) {
    reply.headers({ 'cache-control': 'no-cache', vary: 'Origin, Accept-Encoding' }).type(jsonType)
    const files = await keptText(documentation.kept, 'json', () =>
      JSON.stringify(documentation.document(), null, 2),
    )
    return sendEncoded(request, reply, files)
  },
})

let css: string | undefined

export const style = forAnyone({
  summary: 'The style sheet of the page of this description',
  responses: { 200: 'css' },
  async handle(_, _request, reply) {
    css ??= readFileSync(new URL('documentation.css', import.meta.url), 'utf8')
    return sendStyleSheet(reply, css)
  },
})
