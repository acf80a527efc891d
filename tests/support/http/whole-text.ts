// Reads a body as text; an event stream has no end, so it is read up to its first event.
import type { IncomingMessage } from 'node:http'

/** Closes the connection of a stream after its first event. */
export async function wholeText(response: IncomingMessage): Promise<string> {
  const isStream = isEventStream(response.headers['content-type'])
  const pieces: Buffer[] = []
  for await (const piece of response) {
    pieces.push(piece as Buffer)
    if (isStream && hasHello(Buffer.concat(pieces).toString('utf8'))) break
  }
  return Buffer.concat(pieces).toString('utf8')
}

export async function wholeTextOf(response: Response): Promise<string> {
  if (!isEventStream(response.headers.get('content-type') ?? '') || response.body === null)
    return response.text()
  let text = ''
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    text += piece
    if (hasHello(text)) break
  }
  return text
}

function isEventStream(type: string | undefined): boolean {
  return type?.startsWith('text/event-stream') === true
}

function hasHello(text: string): boolean {
  return /^event: hello\n(.+\n)+\n/m.test(text)
}
