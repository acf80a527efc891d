// What a page loads: the bell and inbox as custom elements, the client alone, and the files of the service's own pages. Their short names redirect to names with
// a hash of the content, which browsers may keep for ever.
import { type Exchange, forAnyone } from '../http/operation.ts'
import { comesFromOtherSite } from '../http/requests.ts'
import { sendEncoded } from '../http/response/encoded-file.ts'
import type { PageNeeds } from './page.ts'

/**
 * A page of any site may load these; only one of an allowed origin may use them as modules (other-sites.ts). A browser must not keep what an origin
 * received before it was allowed.
 */
function allowLoading({ site }: PageNeeds, { request, reply }: Exchange, cacheControl: string) {
  // Browsers send the origin of this service too, with each module.
  const isRefused = request.headers.origin !== undefined && comesFromOtherSite(request, site.allowedOrigins)
  return reply.headers({
    'cross-origin-resource-policy': 'cross-origin',
    'cache-control': isRefused ? 'no-store' : cacheControl,
    vary: 'Origin, Accept-Encoding',
  })
}

/** The address is relative, so that it is right behind a proxy that strips a path. */
const redirectTo = (entry: string, summary: string) =>
  forAnyone({
    summary,
    responses: { 302: 'none' },
    refusals: ['UNAVAILABLE'],
    async handle(dependencies: PageNeeds, request, reply) {
      const address = `carillon-scripts/${dependencies.pages.scripts.hashed(entry)}`
      return allowLoading(dependencies, { request, reply }, 'public, max-age=300').redirect(address)
    },
  })
const inboxSummary = 'The elements `<carillon-bell>` and `<carillon-inbox>`, as a JavaScript module'
export const inboxScript = redirectTo('carillon-inbox.js', inboxSummary)
export const clientScript = redirectTo('carillon-client.js', 'The client `carillon-client`, as a JavaScript module')

export const asset = forAnyone({
  summary:
    'A script, style sheet or icon by its name with a hash, to keep for ever; the current one for another version of it',
  headers: { 'If-None-Match': 'The ETag of an earlier response: unchanged is 304' },
  responses: { 200: 'asset', 302: 'none', 304: 'none' },
  refusals: ['UNAVAILABLE'],
  async handle(dependencies: PageNeeds, request, reply) {
    const { scripts } = dependencies.pages
    const { name } = request.params
    // While nodes of two versions serve, a browser may have the redirect of one and request the script from the other.
    const entry = scripts.entryOf(name)
    if (entry !== undefined)
      return allowLoading(dependencies, { request, reply }, 'no-store').redirect(scripts.hashed(entry))
    const file = scripts.file(name, request.headers['accept-encoding'])
    allowLoading(dependencies, { request, reply }, 'public, max-age=31536000, immutable').type(typeOf(name))
    return sendEncoded(request, reply, file)
  },
})

function typeOf(name: string): string {
  if (name.endsWith('.css')) return 'text/css; charset=utf-8'
  return name.endsWith('.svg') ? 'image/svg+xml' : 'text/javascript; charset=utf-8'
}
