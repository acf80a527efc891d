// Measures sign-ins of 20 users while one address floods the service with sign-ins. `X-Forwarded-For` gives each client its
// address, since the service trusts the proxy at 127.0.0.1.
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection, requestText } from './requests.ts'

const floodConnections = 200
const others = 20

/** Milliseconds per sign-in of the other users; Infinity if it was refused. */
export async function signInsUnderFlood(port: number, credentials: readonly { username: string; password: string }[]) {
  let isOver = false
  const flood = Array.from({ length: floodConnections }, async (_, n) => {
    const connection = new Connection(port)
    // The flood also tries the accounts of the other users, which must not delay them either.
    const { username = 'nobody' } = credentials[n % (2 * others)] ?? {}
    while (!isOver) await connection.request(login('192.0.2.1', { username, password: `wrong ${n}` }))
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
  return requestText('POST', '/login', { proof: `X-Forwarded-For: ${address}`, body: JSON.stringify(credentials) })
}

async function signIn(port: number, address: string, credentials: Credentials): Promise<number> {
  const connection = new Connection(port)
  const startedAt = performance.now()
  const { status } = await connection.request(login(address, credentials))
  connection.close()
  return status === 200 ? performance.now() - startedAt : Number.POSITIVE_INFINITY
}
