// In place of the sign-in that your application has already (better-auth, Auth.js, ...). This one believes every name.
import { randomUUID } from 'node:crypto'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'

const sessions = new Map()

export async function ownSignIn(context) {
  const { name } = await context.req.parseBody()
  const id = randomUUID()
  sessions.set(id, { id: name.toLowerCase(), name })
  setCookie(context, 'tasks', id, { httpOnly: true, sameSite: 'Lax', path: '/' })
  return context.redirect('/', 303)
}

export function ownSignOut(context) {
  const id = deleteCookie(context, 'tasks')
  sessions.delete(id)
}

/** The signed-in user, if there is one. */
export function userOf(context) {
  return sessions.get(getCookie(context, 'tasks'))
}

/** Lets the request pass with its user, or responds with 401. */
export async function signedIn(context, next) {
  const user = userOf(context)
  if (!user) return context.json({ error: 'Sign in first' }, 401)
  context.set('user', user)
  await next()
}
