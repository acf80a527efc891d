// Composes the demonstration and listens on this machine. main.ts is the process.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLog } from '../../server/basics/log.ts'
import { passedField } from '../../server/demonstration/pass-on.ts'
import { type HashCost, Passwords } from '../../server/passwords/passwords.ts'
import type { Way } from './controls.ts'
import { composeRequests } from './requests.ts'
import type { ChildSettings } from './settings.ts'
import type { WorldOptions } from './world.ts'
import { Worlds } from './worlds.ts'

type Place = Pick<WorldOptions, 'folder' | 'wall' | 'monotonic'>

export async function serveDemonstration(settings: ChildSettings, place: Place, cost?: HashCost) {
  const log = await createLog({ level: 'silent', isTerminal: false })
  // The service keeps its connections, and one that ends while a request is on its way would fail the request.
  const server = createServer({ keepAliveTimeout: 0 }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { prefix, secret } = settings
  const way: Way = {
    urlOf: (path) => new URL(`http://127.0.0.1:${port}${prefix}/demonstration/${path}`),
    fieldsOf: (address, by) => [passedField, `${secret} ${address} ${by}`],
  }
  const keySet = (id: string) => ({
    url: way.urlOf('service/.well-known/jwks.json'),
    headers: Object.fromEntries([['Carillon-Visit', id], way.fieldsOf('127.0.0.1', 'machine')]),
  })
  const worlds = new Worlds({ ...place, settings, log, passwords: new Passwords({ threads: 1, cost }), keySet })
  const { app, receive } = composeRequests(worlds, { settings, log, way })
  await app.ready()
  server.on('request', receive)
  const end = async () => {
    await worlds.end()
    await app.close()
    server.close()
    server.closeAllConnections()
  }
  return { port, end }
}
