// The page of the demonstration: a session and a token at work, side by side. pages/demonstration/ has its script.
import type { FastifyReply } from 'fastify'
import { noSuchRoute } from '../../../errors.ts'
import { html } from '../../../pages/html.ts'
import type { Subject } from '../../../sign-in/subject.ts'
import type { Dependencies } from '../../dependencies.ts'
import type { GuardedRequest, Operation } from '../operation.ts'
import { readerOf, sendPage, viewOf } from './page.ts'

export const demonstration: Operation<Subject | null> = {
  id: 'getDemonstrationPage',
  tag: 'pages',
  summary: 'The demonstration of both variants, if `CARILLON_DEMONSTRATION` is on; otherwise 404',
  responses: { 200: 'html' },
  handle: sendDemonstration,
}

async function sendDemonstration(
  dependencies: Dependencies,
  request: GuardedRequest<Subject | null>,
  reply: FastifyReply,
) {
  if (!dependencies.pages.hasDemonstration) throw noSuchRoute()
  const view = await viewOf(dependencies, request, await readerOf(dependencies, request.caller))
  const { textsOf } = await import('carillon-inbox/languages')
  const { title, lead } = await textsOf('demonstration', view.language)
  // A sandboxed frame of another site is part of an experiment.
  return sendPage(
    reply,
    view,
    {
      title,
      current: 'demonstration',
      isWide: true,
      needsScript: true,
      styles: ['demonstration.css', 'exchange.css', 'experiments.css'],
      scripts: ['page-demonstration.js'],
      main: html`<h1 id="top" tabindex="-1">${title}</h1>
<p class="lead">${lead}</p>
<div id="walk" data-base="demonstration/"><p class="not-started fault">${view.texts.unsupportedBrowser}</p></div>
<section id="experiments"></section>`,
    },
    { frames: true },
  )
}
