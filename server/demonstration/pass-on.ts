// Sends a request on to a listener of this machine, and its response back, so that no byte of either changes.
import { once } from 'node:events'
import { type Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { isSafeMethod } from '../http/requests.ts'

/** Follows the fields of the client: the secret of the listener, and what it has to know about the request. */
export const passedField = 'Carillon-Demonstration'
const ofBody = /^(?:content-length|transfer-encoding)$/i

export type Listener = { port: number; secret: string; agent: Agent }

/** Resolves when the response has begun, and rejects if there is none. */
export async function passOn(
  [request, response]: readonly [IncomingMessage, ServerResponse],
  { port, secret, agent }: Listener,
  fact: string,
): Promise<void> {
  const { method = '', url: path, rawHeaders } = request
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  // The request checks drop the body of a GET: its length would make the next request on the connection a part of it.
  const isBodiless = isSafeMethod(method) || (length === undefined && coding === undefined)
  const isKept = (_: string, i: number) => !isBodiless || !ofBody.test(rawHeaders[i - (i % 2)] as string)
  // Otherwise Node would send a POST without a body in chunks.
  const lengths = isBodiless ? ['Content-Length', '0'] : []
  const headers = [...rawHeaders.filter(isKept), passedField, `${secret} ${fact}`, ...lengths]
  const onward = httpRequest({ host: '127.0.0.1', port, agent, method, path, headers })
  onward.on('error', () => {})
  response.once('close', () => onward.destroy())
  if (isBodiless) onward.end()
  else request.pipe(onward)
  const [received] = (await once(onward, 'response')) as [IncomingMessage]
  response.sendDate = false
  response.writeHead(received.statusCode as number, received.statusMessage, received.rawHeaders)
  pipeline(received, response, () => {})
}
