// How many others can sign in, and how soon, while one address floods the service with sign-ins? All come through a proxy that
// the service trusts, so that each has an address of its own.
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection, request } from './requests.ts'

const floodConnections = 200
const others = 20

/** In milliseconds, how long each of the others took; Infinity for one that was refused. */
export async function signInsUnderFlood(port: number, credentials: readonly { username: string; password: string }[]) {
  let isOver = false
  const flood = Array.from({ length: floodConnections }, async (_, n) => {
    const connection = new Connection(port)
    // The accounts of the others too: one address must not take their turns either.
    const { username = 'nobody' } = credentials[n % (2 * others)] ?? {}
    while (!isOver) await connection.ask(login('192.0.2.1', { username, password: `wrong ${n}` }))
    connection.close()
  })
  await sleep(500)
  const took = await Promise.all(credentials.slice(0, others).map((one, n) => signIn(port, `203.0.113.${n}`, one)))
  isOver = true
  await Promise.all(flood)
  return took
}

type Credentials = { username: string; password: string }

function login(address: string, credentials: Credentials): string {
  return request('POST', '/login', { proof: `X-Forwarded-For: ${address}`, body: JSON.stringify(credentials) })
}

async function signIn(port: number, address: string, credentials: Credentials): Promise<number> {
  const connection = new Connection(port)
  const startedAt = performance.now()
  const { status } = await connection.ask(login(address, credentials))
  connection.close()
  return status === 200 ? performance.now() - startedAt : Number.POSITIVE_INFINITY
}
