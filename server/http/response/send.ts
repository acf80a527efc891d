// How a handler sends JSON, a style sheet, or a file in an encoding that the client accepts; whether the client has it, or still waits.
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

/** A style sheet that depends on the settings: a browser asks for it again after five minutes. */
export function sendStyleSheet(reply: FastifyReply, css: string): FastifyReply {
  return reply.header('cache-control', 'public, max-age=300').type('text/css; charset=utf-8').send(css)
}

/** `{ success, data }`: the shape of every success, but for login, token renewal and the key set, whose specs have their own. */
export function sendData(reply: FastifyReply, data: unknown): FastifyReply {
  return sendObject(reply, { success: true, data })
}

/** A page by cursor. `found` has one more than `limit` if another page follows. */
export function sendPageOf<Item extends { id: string }>(
  reply: FastifyReply,
  { found, limit, display }: { found: readonly Item[]; limit: number; display: (item: Item) => object },
): FastifyReply {
  const items = found.slice(0, limit)
  const next = found.length > limit ? (items.at(-1)?.id ?? null) : null
  return sendData(reply, { items: items.map(display), next })
}

/** Whether the client has this response: If-None-Match (RFC 9110, section 13.1.2), by weak comparison. Undefined: no such field. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === etag || ifNoneMatch === '*') return true
  if (!ifNoneMatch.includes(etag)) return false
  return ifNoneMatch.matchAll(/[ \t,]*(?:W\/)?("[^"]*")(?=[ \t]*(?:,|$))/gy).some(([, tag]) => tag === etag)
}

/** Whether the client asks for a page and not for data. */
export function acceptsHtml({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return headers.accept?.toLowerCase().includes('text/html') ?? false
}

/** Calls back when the response is over, even if its connection broke before this was called. */
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

/** Sends the first file that the client accepts, or 304 if it has that one. The last is `identity`. The caller sets the type, caching and `Vary`. */
export function sendEncoded(request: FastifyRequest, reply: FastifyReply, files: readonly EncodedFile[]) {
  const accepted = files.find((file) => accepts(request.headers['accept-encoding'], file.encoding))
  const { bytes, etag, encoding } = accepted ?? (files.at(-1) as EncodedFile)
  reply.header('etag', etag)
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  if (encoding !== 'identity') reply.header('content-encoding', encoding)
  return reply.send(bytes)
}

/** A text of this response alone. The caller sets `Vary`. */
export async function sendCompressed(reply: FastifyReply, text: string) {
  if (!accepts(reply.request.headers['accept-encoding'], 'gzip')) return reply.send(text)
  return reply.header('content-encoding', 'gzip').send(await compress(text))
}

/** Texts that are the same for every reader, by name. */
export type KeptTexts = Map<string, readonly EncodedFile[]>

/** The text is made and compressed at its first request, and kept if `make` does not throw. */
export async function keptText(kept: KeptTexts, name: string, make: () => string | Promise<string>) {
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

/** Accept-Encoding (RFC 9110, section 12.5.3), for codings that the field names; without the field, only `identity`. */
function accepts(acceptEncoding = '', encoding: Encoding): boolean {
  if (encoding === 'identity') return true
  const offers = acceptEncoding.toLowerCase().split(',')
  return offers.some((offer) => {
    const [coding = '', weight = ''] = offer.split(';', 2)
    return coding.trim() === encoding && !/^q=0(?:\.0*)?$/.test(weight.trim())
  })
}
