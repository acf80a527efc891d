// What a page loads: the bell and inbox as custom elements, the client alone, and the files of the service's own pages. Their short names redirect to names with
// a hash of the content, which browsers may keep for ever.
import type { FastifyReply } from 'fastify'
import type { Dependencies } from '../dependencies.ts'
import { string } from '../openapi/schema.ts'
import { isKnown } from '../response/etag.ts'
import type { GuardedRequest, Operation } from './operation.ts'

type Request = GuardedRequest<null>

/**
 * A page of any site may load these; only one of an allowed origin may use them as modules (cors.ts). A browser must not keep what an origin
 * received before it was allowed.
 */
function allowLoading(request: Request, reply: FastifyReply, cacheControl: string): FastifyReply {
  const isRefused = request.headers.origin !== undefined && !reply.hasHeader('access-control-allow-origin')
  return reply.headers({
    'cross-origin-resource-policy': 'cross-origin',
    'cache-control': isRefused ? 'no-store' : cacheControl,
    vary: 'Origin, Accept-Encoding',
  })
}

export const inboxScript: Operation<null> = {
  id: 'getInboxScript',
  tag: 'scripts',
  summary: 'The elements `<carillon-bell>` and `<carillon-inbox>`, as a JavaScript module',
  responses: { 302: 'none' },
  refusals: ['UNAVAILABLE'],
  handle: redirectToInbox,
}

async function redirectToInbox({ scripts }: Dependencies, request: Request, reply: FastifyReply) {
  return redirect(request, reply, scripts.hashed('carillon-inbox.js'))
}

export const clientScript: Operation<null> = {
  id: 'getClientScript',
  tag: 'scripts',
  summary: 'The client `carillon-client`, as a JavaScript module',
  responses: { 302: 'none' },
  refusals: ['UNAVAILABLE'],
  handle: redirectToClient,
}

async function redirectToClient({ scripts }: Dependencies, request: Request, reply: FastifyReply) {
  return redirect(request, reply, scripts.hashed('carillon-client.js'))
}

/** The address is relative, so that it is right behind a proxy that strips a path. */
function redirect(request: Request, reply: FastifyReply, name: string) {
  return allowLoading(request, reply, 'public, max-age=300').redirect(`carillon-scripts/${name}`)
}

export const asset: Operation<null> = {
  id: 'getScript',
  tag: 'scripts',
  summary:
    'A script, style sheet or icon by its name with a hash, to keep for ever; the current one for another version of it',
  parameters: { name: string({ maxLength: 200 }) },
  headers: { 'If-None-Match': 'The ETag of an earlier response: unchanged is 304' },
  responses: { 200: 'asset', 302: 'none', 304: 'none' },
  refusals: ['UNAVAILABLE'],
  handle: sendScript,
}

async function sendScript({ scripts }: Dependencies, request: Request, reply: FastifyReply) {
  const { name } = request.params as { name: string }
  // While nodes of two versions serve, a browser may have the redirect of one and request the script from the other.
  const entry = scripts.entryOf(name)
  if (entry !== undefined) return allowLoading(request, reply, 'no-store').redirect(scripts.hashed(entry))
  const { bytes, etag, encoding } = scripts.file(name, request.headers['accept-encoding'])
  allowLoading(request, reply, 'public, max-age=31536000, immutable').header('etag', etag)
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  if (encoding !== 'identity') reply.header('content-encoding', encoding)
  return reply.type(typeOf(name)).send(bytes)
}

function typeOf(name: string): string {
  if (name.endsWith('.css')) return 'text/css; charset=utf-8'
  return name.endsWith('.svg') ? 'image/svg+xml' : 'text/javascript; charset=utf-8'
}
