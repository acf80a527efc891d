// Passes a request to a listener of this machine, and the response back, byte for byte.
import { once } from 'node:events'
import {
  type Agent,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { pipeline } from 'node:stream'

export const passedField = 'Carillon-Demonstration'
export type Listener = { port: number; secret: string; agent: Agent }

export async function passOn(
  [request, response]: readonly [IncomingMessage, ServerResponse],
  { port, secret, agent }: Listener,
  fact: string,
): Promise<void> {
  const { method, url: path, rawHeaders } = request
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  // Otherwise Node sends a POST without a body in chunks.
  const bodiless = length === undefined && coding === undefined ? ['Content-Length', '0'] : []
  const headers = [...rawHeaders, passedField, `${secret} ${fact}`, ...bodiless]
  const onward = httpRequest({ host: '127.0.0.1', port, agent, method, path, headers })
  onward.on('error', () => {})
  response.once('close', () => onward.destroy())
  request.pipe(onward)
  const [received] = (await once(onward, 'response')) as [IncomingMessage]
  response.sendDate = false
  response.writeHead(received.statusCode as number, received.statusMessage, received.rawHeaders)
  pipeline(received, response, () => {})
}
