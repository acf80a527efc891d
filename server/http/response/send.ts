import { hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

export const jsonType = 'application/json; charset=utf-8'

export function sendJson(reply: FastifyReply, text: string | Buffer): FastifyReply {
  return reply.header('content-type', jsonType).send(text)
}

export function sendObject(reply: FastifyReply, value: unknown): FastifyReply {
  return sendJson(reply, JSON.stringify(value))
}

/** The settings decide the style, so a browser asks again after five minutes. */
export function sendStyleSheet(reply: FastifyReply, css: string): FastifyReply {
  return reply
    .header('cache-control', 'public, max-age=300')
    .type('text/css; charset=utf-8')
    .send(css)
}

/** Responses of login, token renewal and key set have the shape of their standards instead. */
export function sendData(reply: FastifyReply, data: unknown): FastifyReply {
  return sendObject(reply, { success: true, data })
}

export function sendPageOf<Item extends { id: string }>(
  reply: FastifyReply,
  {
    found,
    limit,
    display,
  }: { found: readonly Item[]; limit: number; display: (item: Item) => object },
): FastifyReply {
  const items = found.slice(0, limit)
  const next = found.length > limit ? (items.at(-1)?.id ?? null) : null
  return sendData(reply, { items: items.map(display), next })
}

/** If-None-Match (RFC 9110, section 13.1.2), weakly. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === etag || ifNoneMatch === '*') return true
  if (!ifNoneMatch.includes(etag)) return false
  return ifNoneMatch
    .matchAll(/[ \t,]*(?:W\/)?("[^"]*")(?=[ \t]*(?:,|$))/gy)
    .some(([, tag]) => tag === etag)
}

export function acceptsHtml({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return headers.accept?.toLowerCase().includes('text/html') ?? false
}

export function onGone(response: ServerResponse, listener: () => void): void {
  if (response.req.socket.destroyed) setImmediate(listener)
  else response.on('close', listener)
}

export function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  onGone(raw, () => gone.abort())
  return gone.signal
}

export type EncodedFile = { bytes: Buffer; etag: string; encoding: Encoding }
export type Encoding = 'br' | 'gzip' | 'identity'

const compress = promisify(gzip)

/** Or 304. The last file is `identity`. The caller sets type, caching and `Vary`. */
export function sendEncoded(
  request: FastifyRequest,
  reply: FastifyReply,
  files: readonly EncodedFile[],
) {
  const accepted = files.find((file) => accepts(request.headers['accept-encoding'], file.encoding))
  const { bytes, etag, encoding } = accepted ?? (files.at(-1) as EncodedFile)
  reply.header('etag', etag)
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  if (encoding !== 'identity') reply.header('content-encoding', encoding)
  return reply.send(bytes)
}

export async function sendCompressed(reply: FastifyReply, text: string) {
  if (!accepts(reply.request.headers['accept-encoding'], 'gzip')) return reply.send(text)
  return reply.header('content-encoding', 'gzip').send(await compress(text))
}

export type KeptTexts = Map<string, readonly EncodedFile[]>

/** Kept unless `make` throws. */
export async function keptText(
  kept: KeptTexts,
  name: string,
  make: () => string | Promise<string>,
) {
  const known = kept.get(name)
  if (known !== undefined) return known
  const plain = Buffer.from(await make())
  const digest = hash('sha256', plain, 'base64url').slice(0, 22)
  const files: EncodedFile[] = [
    { bytes: await compress(plain, { level: 9 }), etag: `"${digest}.gz"`, encoding: 'gzip' },
    { bytes: plain, etag: `"${digest}"`, encoding: 'identity' },
  ]
  kept.set(name, files)
  return files
}

/** RFC 9110, section 12.5.3. */
function accepts(acceptEncoding = '', encoding: Encoding): boolean {
  if (encoding === 'identity') return true
  const offers = acceptEncoding.toLowerCase().split(',')
  return offers.some((offer) => {
    const [coding = '', weight = ''] = offer.split(';', 2)
    return coding.trim() === encoding && !/^q=0(?:\.0*)?$/.test(weight.trim())
  })
}
