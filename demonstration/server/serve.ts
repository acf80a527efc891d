// Composes the demonstration and listens on this machine. main.ts is the process.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TimeSources } from '../../server/basics/clock.ts'
import { createLog } from '../../server/basics/log.ts'
import { passedField } from '../../server/demonstration/pass-on.ts'
import { type HashCost, Passwords } from '../../server/passwords/passwords.ts'
import { removeLeftovers } from './folders.ts'
import { Requests } from './requests.ts'
import type { ChildSettings } from './settings.ts'
import { Worlds } from './worlds.ts'

/** `parent`: the folder for temporary files. */
type Surroundings = { parent: string; sources: TimeSources; hashCost?: HashCost }

export async function serveDemonstration(settings: ChildSettings, { parent, sources, hashCost }: Surroundings) {
  removeLeftovers(parent)
  const log = await createLog({ level: 'silent', isTerminal: false })
  const { url, prefix } = settings
  const worlds = new Worlds({
    ...{ parent, ...sources, shared: { settings, log, passwords: new Passwords({ threads: 1, cost: hashCost }) } },
    keySet: (id) => ({
      url: requests.sentTo('service/.well-known/jwks.json'),
      headers: { [passedField]: requests.facts('127.0.0.1', 'machine'), 'Carillon-Visit': id },
    }),
    base: `${new URL(url).pathname.replace(/\/$/, '')}${prefix}/demonstration`,
    isSecure: url.startsWith('https:'),
  })
  const server = createServer((request, response) => requests.handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const requests = new Requests(worlds, settings, port)
  const end = async () => {
    await worlds.end()
    server.close()
    server.closeAllConnections()
  }
  return { port, end }
}
