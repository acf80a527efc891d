// Parses text/event-stream (WHATWG HTML, section 9.2.6): turns chunks of bytes into events.

/** `id` is that of the last event with one; an empty id clears it. */
export type ServerSentEvent = { type: string; data: string; id: string }

/** In characters, far above a notification's limits: longer events must not fill the memory. */
const maxEventLength = 8 * 2 ** 20

export class EventStreamParser {
  retryMs: number | undefined
  /** Removes a byte order mark and replaces invalid UTF-8 by U+FFFD, as section 9.2.6 requires. */
  readonly #decoder = new TextDecoder()
  #line = ''
  #hasEndedInCr = false
  #type = ''
  #data = ''
  #id = ''

  /** The events that `bytes` complete. Throws RangeError if the rest exceeds 8 Mi characters. */
  push(bytes: Uint8Array): ServerSentEvent[] {
    let text = this.#decoder.decode(bytes, { stream: true })
    if (text === '') return []
    // CR LF is one line ending, even between two chunks.
    if (this.#hasEndedInCr && text.startsWith('\n')) text = text.slice(1)
    this.#hasEndedInCr = text.endsWith('\r')
    const lines = text.split(/\r\n|\r|\n/)
    lines[0] = this.#line + lines[0]
    this.#line = lines.pop() ?? ''
    const events = lines.flatMap((line) => (line === '' ? this.#complete() : this.#field(line)))
    if (this.#line.length + this.#data.length > maxEventLength)
      throw new RangeError('An event is too long')
    return events
  }

  #complete(): ServerSentEvent[] {
    const event = { type: this.#type || 'message', data: this.#data.slice(0, -1), id: this.#id }
    const isEvent = this.#data !== ''
    this.#type = ''
    this.#data = ''
    return isEvent ? [event] : []
  }

  #field(line: string): [] {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'event') this.#type = value
    if (name === 'data') this.#data += `${value}\n`
    if (name === 'id' && !value.includes('\0')) this.#id = value
    if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value)
    return []
  }
}
