// A copy of a body for the transcript, as text.
const maxBodyBytes = 16 * 1024

/** The text of a body; what is longer is cut. */
export class Body {
  #chunks: Buffer[] = []
  #bytes = 0

  add(chunk: unknown, encoding?: unknown): void {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return
    const bytes = Buffer.from(chunk as string, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
    const kept = bytes.subarray(0, maxBodyBytes - this.#bytes)
    this.#bytes += kept.length
    if (kept.length > 0) this.#chunks.push(kept)
  }

  /** Joins the chunks: a body that came byte by byte would keep a hundred times its size. */
  get text(): string {
    // In memory of its own: a part of Node's pool would keep 64 KiB.
    const joined = Buffer.allocUnsafeSlow(this.#bytes)
    Buffer.concat(this.#chunks).copy(joined)
    this.#chunks = [joined]
    return joined.toString('utf8')
  }
}
