import { noSuchRoute } from '../basics/errors.ts'
import { forVisitor } from '../http/operation.ts'
import { html } from '../pages/html.ts'
import { type PageNeeds, sendPage, viewOf } from '../pages/page.ts'

/** The origin that stands for another site: for a browser, `localhost` and `127.0.0.1` are two. Null if the service has one public name. */
export function otherSiteOf(host: string): string | null {
  const [, name, port = ''] = /^(localhost|127\.0\.0\.1)(:\d+)?$/.exec(host) ?? []
  return name === undefined ? null : `http://${name === 'localhost' ? '127.0.0.1' : 'localhost'}${port}`
}

export const demonstration = forVisitor({
  summary: 'The demonstration of both variants, if `CARILLON_DEMONSTRATION` is on; otherwise 404',
  responses: { 200: 'html' },
  async handle(dependencies: PageNeeds, request, reply) {
    if (!dependencies.pages.hasDemonstration) throw noSuchRoute()
    const view = await viewOf(dependencies, request, await dependencies.pages.readerOf(request.caller))
    const { title, lead } = (await view.textsOf('service')).demonstrationPage
    const main = html`<h1 id="top" tabindex="-1">${title}</h1>
  <p class="lead">${lead}</p>
  <div id="walk" data-base="demonstration/"><p class="not-started fault">${view.texts.unsupportedBrowser}</p></div>`
    const page = {
      title,
      main,
      current: 'demonstration',
      isWide: true,
      needsScript: true,
      styles: ['demonstration.css'],
      scripts: ['page-demonstration.js'],
    } as const
    const otherSite = otherSiteOf(request.headers.host ?? '')
    return sendPage(reply, view, page, otherSite === null ? {} : { frames: `'self' ${otherSite}` })
  },
})
