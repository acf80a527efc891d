// A file in several encodings: which one does a client get, and does it already have it?
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isKnown } from './send.ts'

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

/** Texts that are the same for every reader. Each is made and compressed at its first request, and kept. */
export class KeptTexts {
  readonly #kept = new Map<string, readonly EncodedFile[]>()

  /** Nothing is kept if `make` throws. */
  async get(name: string, make: () => string | Promise<string>): Promise<readonly EncodedFile[]> {
    const kept = this.#kept.get(name)
    if (kept !== undefined) return kept
    const plain = Buffer.from(await make())
    const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 22)
    const files: EncodedFile[] = [
      { bytes: await compress(plain, { level: 9 }), etag: `"${hash}.gz"`, encoding: 'gzip' },
      { bytes: plain, etag: `"${hash}"`, encoding: 'identity' },
    ]
    this.#kept.set(name, files)
    return files
  }
}

/** Accept-Encoding (RFC 9110, section 12.5.3), for codings that the field names; without the field, only `identity`. */
function accepts(acceptEncoding = '', encoding: Encoding): boolean {
  if (encoding === 'identity') return true
  const offer = acceptEncoding
    .toLowerCase()
    .split(',')
    .map((one) => one.trim().split(/\s*;\s*/))
  return offer.some(([coding, weight = '']) => coding === encoding && !/^q=0(?:\.0*)?$/.test(weight))
}
