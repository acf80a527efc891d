// Short names redirect to hashed names, which browsers may keep for ever.
import { type Exchange, forAnyone } from '../http/operation.ts'
import { comesFromOtherSite } from '../http/requests.ts'
import { sendEncoded, sendStyleSheet } from '../http/response/send.ts'
import type { PageNeeds, Pages } from './page.ts'

/** Browsers must not keep a response from before the origin was allowed. */
function allowLoading({ site }: PageNeeds, { request, reply }: Exchange, cacheControl: string) {
  // Browsers also send this service's origin.
  const isRefused =
    request.headers.origin !== undefined && comesFromOtherSite(request, site.allowedOrigins)
  return reply.headers({
    'cross-origin-resource-policy': 'cross-origin',
    'cache-control': isRefused ? 'no-store' : cacheControl,
    vary: 'Origin, Accept-Encoding',
  })
}

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
export const clientScript = redirectTo(
  'carillon-client.js',
  'The client `carillon-client`, as a JavaScript module',
)

/** The worker's place decides which pages it serves. Browsers follow no redirect to a worker. */
export const pushWorker = forAnyone({
  summary: 'The service worker of web push, for a page of the same origin',
  headers: { 'If-None-Match': 'The ETag of an earlier response: unchanged is 304' },
  responses: { 200: 'asset', 304: 'none' },
  refusals: ['UNAVAILABLE'],
  async handle({ pages: { scripts } }: PageNeeds, request, reply) {
    // The worker sends the subscription that replaces another.
    const policy = `${reply.getHeader('content-security-policy')}; connect-src 'self'`
    reply.headers({ 'cache-control': 'no-cache', 'content-security-policy': policy })
    reply.type('text/javascript; charset=utf-8')
    return sendEncoded(request, reply, scripts.file(scripts.hashed('carillon-push.js')))
  },
})

export const asset = forAnyone({
  summary:
    'A script, style sheet or icon by its name with a hash, to keep for ever; the current one for another version of it',
  headers: { 'If-None-Match': 'The ETag of an earlier response: unchanged is 304' },
  responses: { 200: 'asset', 302: 'none', 304: 'none' },
  refusals: ['UNAVAILABLE'],
  async handle(needs: PageNeeds, request, reply) {
    const { scripts } = needs.pages
    const { name } = request.params
    // Another version's node may have sent the redirect.
    const entry = scripts.entryOf(name)
    if (entry !== undefined)
      return allowLoading(needs, { request, reply }, 'no-store').redirect(scripts.hashed(entry))
    const files = scripts.file(name)
    allowLoading(needs, { request, reply }, 'public, max-age=31536000, immutable').type(
      typeOf(name),
    )
    return sendEncoded(request, reply, files)
  },
})

function typeOf(name: string): string {
  if (name.endsWith('.css')) return 'text/css; charset=utf-8'
  return name.endsWith('.svg') ? 'image/svg+xml' : 'text/javascript; charset=utf-8'
}

export const theme = forAnyone({
  summary:
    'The style sheet with the accent colour of `CARILLON_ACCENT`; empty without that setting',
  responses: { 200: 'css' },
  async handle({ pages }: { pages: Pages }, _, reply) {
    const { themeCss } = await import('./theme.ts')
    return sendStyleSheet(reply, pages.accent === undefined ? '' : themeCss(pages.accent))
  },
})

export const logo = forAnyone({
  summary: 'The picture of `CARILLON_LOGO`, or the bell of Carillon',
  responses: { 200: 'image' },
  async handle({ pages: { logo: chosen, scripts } }: { pages: Pages }, _, reply) {
    const bytes = chosen?.bytes ?? scripts.file(scripts.hashed('favicon.svg')).at(-1)?.bytes
    reply.header('cache-control', 'public, max-age=300').type(chosen?.type ?? 'image/svg+xml')
    return reply.send(bytes)
  },
})
