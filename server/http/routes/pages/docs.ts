// The routes of the API's description: the page to read, in the frame of all pages, its style sheet, and the OpenAPI document. The page names no
// user, so that each of its variants is made and compressed once.
import type { FastifyReply } from 'fastify'
import type { View } from '../../../pages/frame.ts'
import type { Subject } from '../../../sign-in/subject.ts'
import type { Dependencies } from '../../dependencies.ts'
import type { Document } from '../../openapi/openapi.ts'
import { acceptedOf, sendEncoded } from '../../response/encoded-file.ts'
import { jsonType, sendStyleSheet } from '../../response/send.ts'
import type { GuardedRequest, Operation } from '../operation.ts'
import { readerOf, setPageHeaders, viewOf } from './page.ts'

const headers = { 'If-None-Match': 'The ETag of an earlier response: unchanged is 304' }

export const docs: Operation<Subject | null> = {
  id: 'getDocs',
  tag: 'documentation',
  summary: 'This description, to read',
  headers,
  responses: { 200: 'html', 304: 'none' },
  handle: sendDocs,
}

async function sendDocs(dependencies: Dependencies, request: GuardedRequest<Subject | null>, reply: FastifyReply) {
  const user = await readerOf(dependencies, request.caller)
  const view = await viewOf(dependencies, request, user)
  const variant = `${view.language} ${view.canSignOut ? 'signed-in' : 'signed-out'}`
  const { document, kept } = dependencies.documentation
  const files = await kept.get(variant, () => render(view, document() as Document))
  setPageHeaders(reply)
  reply.header('cache-control', 'no-cache')
  return sendEncoded(request, reply, acceptedOf(files, request.headers['accept-encoding']))
}

async function render(view: View, document: Document): Promise<string> {
  const [{ textsOf }, { documentOf }, { documentationPage }] = await Promise.all([
    import('carillon-inbox/languages'),
    import('../../../pages/frame.ts'),
    import('../../openapi/documentation-page.ts'),
  ])
  const title = view.texts.documentation
  const nameless = {
    ...view,
    user: view.canSignOut ? '' : undefined,
    file: (name: string) => (name === 'documentation.css' ? `${view.root}docs/style.css` : view.file(name)),
  }
  return documentOf(nameless, {
    title,
    current: 'docs',
    isWide: true,
    scripts: ['page-docs.js'],
    styles: ['documentation.css'],
    main: documentationPage(document, { title, ...(await textsOf('docs', view.language)) }),
  })
}

export const openApi: Operation<null> = {
  id: 'getOpenApi',
  tag: 'documentation',
  summary: 'This description (OpenAPI 3.1)',
  headers,
  responses: { 200: 'json', 304: 'none' },
  handle: sendOpenApi,
}

async function sendOpenApi({ documentation }: Dependencies, request: GuardedRequest<null>, reply: FastifyReply) {
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

async function sendStyle({ documentation }: Dependencies, _: GuardedRequest<null>, reply: FastifyReply) {
  return sendStyleSheet(reply, documentation.style())
}
