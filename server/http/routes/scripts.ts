// What a page loads: the bell and inbox as custom elements, the client alone, and the files of the service's own pages. Their short names redirect to names with
// a hash of the content, which browsers may keep for ever.
import type { FastifyReply } from 'fastify'
import type { Dependencies } from '../dependencies.ts'
import { string } from '../openapi/schema.ts'
import { comesFromOtherSite } from '../request/checks.ts'
import { sendEncoded } from '../response/encoded-file.ts'
import type { GuardedRequest, Operation } from './operation.ts'

type Request = GuardedRequest<null>
type Exchange = { request: Request; reply: FastifyReply }

/**
 * A page of any site may load these; only one of an allowed origin may use them as modules (cors.ts). A browser must not keep what an origin
 * received before it was allowed.
 */
function allowLoading(
  { allowedOrigins }: Dependencies,
  { request, reply }: Exchange,
  cacheControl: string,
): FastifyReply {
  // Browsers send the origin of this service too, with each module.
  const isRefused = request.headers.origin !== undefined && comesFromOtherSite(request, allowedOrigins)
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

async function redirectToInbox(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  return redirect(dependencies, { request, reply }, 'carillon-inbox.js')
}

export const clientScript: Operation<null> = {
  id: 'getClientScript',
  tag: 'scripts',
  summary: 'The client `carillon-client`, as a JavaScript module',
  responses: { 302: 'none' },
  refusals: ['UNAVAILABLE'],
  handle: redirectToClient,
}

async function redirectToClient(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  return redirect(dependencies, { request, reply }, 'carillon-client.js')
}

/** The address is relative, so that it is right behind a proxy that strips a path. */
function redirect(dependencies: Dependencies, exchange: Exchange, entry: string) {
  const address = `carillon-scripts/${dependencies.scripts.hashed(entry)}`
  return allowLoading(dependencies, exchange, 'public, max-age=300').redirect(address)
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

async function sendScript(dependencies: Dependencies, request: Request, reply: FastifyReply) {
  const { scripts } = dependencies
  const { name } = request.params as { name: string }
  // While nodes of two versions serve, a browser may have the redirect of one and request the script from the other.
  const entry = scripts.entryOf(name)
  if (entry !== undefined)
    return allowLoading(dependencies, { request, reply }, 'no-store').redirect(scripts.hashed(entry))
  const file = scripts.file(name, request.headers['accept-encoding'])
  allowLoading(dependencies, { request, reply }, 'public, max-age=31536000, immutable').type(typeOf(name))
  return sendEncoded(request, reply, file)
}

function typeOf(name: string): string {
  if (name.endsWith('.css')) return 'text/css; charset=utf-8'
  return name.endsWith('.svg') ? 'image/svg+xml' : 'text/javascript; charset=utf-8'
}
