// How a cookie of the service is set and removed (RFC 6265bis).
import type { FastifyReply } from 'fastify'
import type { Cookie } from '../site.ts'

/** Readable by no script, sent by no other site's form, kept to this host by `__Host-` if the public URL has no path. '' removes it. */
export function setCookie(reply: FastifyReply, cookie: Cookie, value: string): void {
  reply.header('set-cookie', cookieText(cookie, value))
}

export function cookieText({ name, path, isSecure, lifetimeMs, sameSite = 'Lax' }: Cookie, value: string): string {
  const secure = isSecure ? '; Secure' : ''
  const maxAgeSeconds = value === '' ? 0 : Math.floor(lifetimeMs / 1000)
  return `${name}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${sameSite}${secure}`
}
