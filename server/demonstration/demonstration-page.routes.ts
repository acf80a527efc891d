import { noSuchRoute } from '../basics/errors.ts'
import { forVisitor } from '../http/operation.ts'
import { drawing } from '../pages/drawing.ts'
import { html } from '../pages/html.ts'
import { notStarted, type PageNeeds, sendPage, viewFor } from '../pages/page.ts'
import { otherSiteOf } from './other-site-of.ts'

export const demonstration = forVisitor({
  summary: 'The demonstration of both variants, if `CARILLON_DEMONSTRATION` is on; otherwise 404',
  responses: { 200: 'html' },
  refusals: ['NOT_FOUND'],
  async handle(dependencies: PageNeeds, request, reply) {
    if (!dependencies.pages.hasDemonstration) throw noSuchRoute()
    const view = await viewFor(dependencies, request)
    const { title, lead } = (await view.textsOf('service')).demonstrationPage
    const main = html`${drawing}<h1 id="top" tabindex="-1">${title}</h1>
  <p class="lead">${lead}</p>
  <div id="walk" data-base="demonstration/" data-places="${dependencies.pages.demonstrationPlaces}">${notStarted(view)}</div>`
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
