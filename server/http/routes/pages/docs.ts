// The page of the API's description, in the frame of all pages. It names no user, so that each of its variants is made and compressed once.
import type { FastifyReply } from 'fastify'
import type { View } from '../../../pages/frame.ts'
import type { Subject } from '../../../sign-in/subject.ts'
import type { Dependencies } from '../../dependencies.ts'
import type { Document } from '../../openapi/openapi.ts'
import { acceptedOf, sendEncoded } from '../../response/encoded-file.ts'
import type { GuardedRequest, Operation } from '../operation.ts'
import { readerOf, setPageHeaders, viewOf } from './page.ts'

export const docs: Operation<Subject | null> = {
  id: 'getDocs',
  tag: 'documentation',
  summary: 'This description, to read',
  headers: { 'If-None-Match': 'The ETag of an earlier response: unchanged is 304' },
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
