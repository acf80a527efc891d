// What does a text/event-stream say? Its bytes, in pieces of any size, become events, by WHATWG HTML, section 9.2.6
// "Interpreting an event stream".

/** `id` is that of the last event that named one: an event without one keeps it, an empty one clears it. */
export type ServerSentEvent = { type: string; data: string; id: string }

/** Far beyond what a notification may hold: what is longer is no event of Carillon, and fills no memory. */
const longestEvent = 8 * 2 ** 20

export class EventStreamParser {
  /** Milliseconds, once the stream has said so. */
  retryMs: number | undefined
  /** Takes a byte order mark away, and puts U+FFFD for what is no UTF-8, as section 9.2.6 asks. */
  readonly #decoder = new TextDecoder()
  #line = ''
  #hasEndedInCr = false
  #type = ''
  #data: string[] = []
  /** Of the data, in UTF-16 code units. */
  #length = 0
  #id = ''

  /**
   * The events that these bytes complete. What is left incomplete when the stream ends was no event. Throws RangeError
   * where one is beyond 8 Mi characters and not complete yet.
   */
  push(bytes: Uint8Array): ServerSentEvent[] {
    let text = this.#decoder.decode(bytes, { stream: true })
    if (text === '') return []
    // CR LF is one end of line, also where it comes in two pieces.
    if (this.#hasEndedInCr && text.startsWith('\n')) text = text.slice(1)
    this.#hasEndedInCr = text.endsWith('\r')
    const lines = text.split(/\r\n|\r|\n/)
    lines[0] = this.#line + lines[0]
    this.#line = lines.pop() ?? ''
    const events = lines.flatMap((line) => (line === '' ? this.#complete() : this.#field(line)))
    if (this.#line.length + this.#length > longestEvent) throw new RangeError('An event has no end')
    return events
  }

  #complete(): ServerSentEvent[] {
    const event = { type: this.#type || 'message', data: this.#data.join('\n'), id: this.#id }
    const isEvent = this.#data.length > 0
    this.#type = ''
    this.#data = []
    this.#length = 0
    return isEvent ? [event] : []
  }

  #field(line: string): [] {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'event') this.#type = value
    if (name === 'data') {
      this.#data.push(value)
      // Empty lines take their place, too.
      this.#length += value.length + 1
    }
    if (name === 'id' && !value.includes('\0')) this.#id = value
    if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value)
    return []
  }
}
