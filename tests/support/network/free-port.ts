// Finds a port that stays free while a process that used it restarts; lets a server listen on one of this moment.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

/**
 * Systems take ports for outgoing connections from a higher range; `fetch` refuses some up to
 * 10080.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(11_000, 30_000)
  const probe = createServer()
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
  return isFree ? port : freePort()
}

/** Returns the port. */
export async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}
