// For tests: the body of an answer as text. Of a stream of events, which has no end, up to its first empty lines.
import type { IncomingMessage } from 'node:http'

/** Ends what goes on: the connection of a stream is closed. */
export async function wholeText(response: IncomingMessage): Promise<string> {
  const goesOn = isEventStream(response.headers['content-type'])
  const pieces: Buffer[] = []
  for await (const piece of response) {
    pieces.push(piece as Buffer)
    if (goesOn && hasHello(Buffer.concat(pieces).toString('utf8'))) break
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** As `wholeText`, of what fetch answered. */
export async function wholeTextOf(response: Response): Promise<string> {
  if (!isEventStream(response.headers.get('content-type') ?? '') || response.body === null) return response.text()
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
