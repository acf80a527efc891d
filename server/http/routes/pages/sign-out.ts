// Sign out by a form, which works without a script: ends what `POST /logout` ends, and leads to the sign-in page.
import type { FastifyReply } from 'fastify'
import type { Dependencies } from '../../dependencies.ts'
import type { GuardedRequest, Operation } from '../operation.ts'
import { endSignIn } from '../sign-in/sign-in.ts'
import { pagePath } from './page.ts'

export const signOut: Operation<null> = {
  id: 'postSignOut',
  tag: 'pages',
  summary:
    'The sign-out button of the pages: ends every session and token that the request presents, then leads to the sign-in page',
  // A button in a form without fields: browsers send an empty form.
  acceptsForm: true,
  responses: { 303: 'none' },
  refusals: ['UNAVAILABLE'],
  handle: signOutAndLeave,
}

async function signOutAndLeave(dependencies: Dependencies, request: GuardedRequest<null>, reply: FastifyReply) {
  await endSignIn(dependencies, request, reply)
  return reply.redirect(pagePath(dependencies, 'sign-in'), 303)
}
