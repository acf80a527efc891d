// Sends as many requests as the service answers, from a thread of their own, since an attacker has
// none in the service.
import { once } from 'node:events'
import { type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads'
import { HttpClient } from '../http/http-client.ts'

export const floodConnections = 90

type Flooding = {
  url: string
  path: string
  bodies: readonly object[]
  /** The flood names these addresses in turn as a trusted proxy does. */
  addresses: readonly string[]
}
type Statuses = Map<number, number>

export function flood(flooding: Flooding) {
  const worker = new Worker(new URL(import.meta.url), { workerData: flooding })
  // A test that fails does not wait for its flood.
  worker.unref()
  let statuses: Statuses = new Map()
  worker.on('message', (told: Statuses) => {
    statuses = told
  })
  return {
    async hasHad(count: number) {
      while (countOf(statuses) < count) await once(worker, 'message')
    },
    async end() {
      await worker.terminate()
      return JSON.stringify([...statuses])
    },
  }
}

const countOf = (statuses: Statuses) => [...statuses.values()].reduce((sum, some) => sum + some, 0)

if (parentPort !== null) send(workerData, parentPort)

/** Tells its counts after every hundred responses. */
function send({ url, path, bodies, addresses }: Flooding, test: MessagePort): void {
  const client = new HttpClient(url, { connections: floodConnections })
  const statuses: Statuses = new Map()
  const one = async (first: number) => {
    for (let n = first; ; n += floodConnections) {
      const headers = {
        'content-type': 'application/json',
        'x-forwarded-for': addresses[n % addresses.length] as string,
      }
      const body = JSON.stringify(bodies[n % bodies.length])
      // A request may have no response in time; the flood goes on.
      const { status } = await client
        .request({ method: 'POST', path, headers, body })
        .catch(() => ({ status: 0 }))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (countOf(statuses) % 100 === 0) test.postMessage(statuses)
    }
  }
  for (let n = 0; n < floodConnections; n++) void one(n)
}
