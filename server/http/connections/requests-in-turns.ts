// Spreads the requests that arrive together over turns of the event loop. Node reports every readable connection in one turn:
// 256 requests at once would block timers, streams and other connections for 12 ms.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { WorkInTurns } from '../../event-loop.ts'

/** Of one turn: 20 to 80 requests. With less, each list takes longer: those of 64 connections then wait for each other's turns. */
const maxMs = 2

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const arrived = Symbol('arrived')
/** The request that waits, if one does. Not a Map: V8 moves its table to the objects that it collects rarely, and with it the requests that were in it. */
type Connection = Socket & { [arrived]?: Parameters<Handler> | undefined }

/** Call it when the server has its listener for requests. Until a request is handled, Node keeps what arrives of its body. */
export function handleInTurns(server: Server): void {
  const [handler] = server.listeners('request') as [Handler]
  const handle = (connection: Connection) => {
    const one = connection[arrived]
    connection[arrived] = undefined
    if (one !== undefined) handler(...one)
  }
  const connections = new WorkInTurns<Connection>(maxMs, handle)
  server.removeListener('request', handler)
  server.on('request', (request, response) => {
    // The usual case, without a look at the connection: nothing waits.
    if (connections.startNow()) {
      handler(request, response)
      return
    }
    const connection: Connection = request.socket
    // Sent without waiting for the response before. It does not wait here either, so that request checks count such requests
    // before memory is full of them (SECURITY.md, I8); nor does the one before it, so that they stay in order.
    if (connection[arrived] !== undefined || response.socket === null) {
      handle(connection)
      handler(request, response)
    } else {
      connection[arrived] = [request, response]
      connections.add(connection)
    }
  })
}
