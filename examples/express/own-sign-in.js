// In place of the sign-in that your application has already (better-auth, Auth.js, Passport, ...). This one believes every name.
import { randomUUID } from 'node:crypto'

const sessions = new Map()

/** Sets `request.user` and `request.endSession` from the shop's own cookie, and serves the shop's own sign-in. */
export function ownSignIn(request, response, next) {
  const [, session] = /(?:^|; )shop=([\w-]+)/.exec(request.headers.cookie ?? '') ?? []
  request.user = sessions.get(session)
  request.endSession = () => sessions.delete(session)
  if (request.method !== 'POST' || request.path !== '/sign-in') return next()
  const { name } = request.body
  const id = randomUUID()
  sessions.set(id, { id: `customers/${name}`, name })
  response.cookie('shop', id, { httpOnly: true, sameSite: 'lax' }).redirect(303, '/')
}

export function signedIn(request, response, next) {
  if (request.user) next()
  else response.status(401).json({ error: 'Sign in to the shop first' })
}
