// How a handler sends JSON (a finished text, an object, or the data of a success) or a style sheet; whether it has to, and whether the
// client still waits.
import type { ServerResponse } from 'node:http'
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
