// Runs in the second process, by the orders of its parent (other-process.ts).
import { BroadcastChannel } from 'node:worker_threads'
import { CarillonError } from '../../../basics/errors.ts'
import { openStore } from '../../../open-store.ts'
import type { Store } from '../../store.ts'
import { exportedOperations } from '../../testing/operations.ts'
import { connect, type Database, openDatabase } from '../database.ts'

export type Order =
  | { act: 'open'; path: string }
  | { act: 'call'; method: 'read' | 'write'; operation: string; args: unknown[] }
  | { act: 'close' }
  | { act: 'run'; path: string; sql: string }
  | { act: 'query writer'; sql: string }
  | { act: 'open database unprivileged'; path: string }
  | { act: 'open and close'; path: string; rounds: number }
export type Report = { ok: true; value: unknown } | { ok: false; code: string; message: string }

/** The user `nobody`. */
const unprivileged = 65_534
const operations = await exportedOperations()
let store: Store | undefined
let connection: Database | undefined

async function execute(order: Order): Promise<unknown> {
  switch (order.act) {
    case 'open': {
      const opened = await openStore({ engine: 'sqlite', path: order.path })
      store = opened.store
      return opened.migrations
    }
    case 'call':
      if (store === undefined) throw new Error('open a store first')
      return (store[order.method] as (...args: unknown[]) => unknown)(
        operations[order.operation],
        ...order.args,
      )
    case 'close':
      return store?.close()
    case 'run':
      connection = connect(order.path)
      connection.exec(order.sql)
      return undefined
    case 'query writer':
      return queryWriter(order.sql)
    case 'open database unprivileged':
      dropRoot()
      openDatabase(order.path).close()
      return undefined
    case 'open and close':
      return failuresOf(order)
  }
}

async function failuresOf({ path, rounds }: { path: string; rounds: number }): Promise<string[]> {
  const failures: string[] = []
  for (let round = 0; round < rounds; round++) {
    const opened = await openStore({ engine: 'sqlite', path })
    void opened.store.failed.then((error) => failures.push(error.message))
    await opened.store.close()
  }
  return failures
}

/** By writer-tap.ts. */
async function queryWriter(sql: string): Promise<unknown> {
  const channel = new BroadcastChannel('writer-tap')
  const received = new Promise((resolve) => {
    channel.onmessage = (event) => resolve((event as unknown as { data: unknown }).data)
  })
  channel.postMessage(sql)
  const rows = await received
  channel.close()
  return rows
}

/** Root may write to every file. */
function dropRoot(): void {
  if (process.getuid?.() !== 0) return
  process.setgroups?.([])
  process.setgid?.(unprivileged)
  process.setuid?.(unprivileged)
}

process.on('message', async ([number, order]: [number, Order]) => {
  const report = await execute(order).then(
    (value): Report => ({ ok: true, value }),
    (error): Report => ({
      ok: false,
      code: error instanceof CarillonError ? error.code : 'not a CarillonError',
      message: String(error?.message),
    }),
  )
  process.send?.([number, report])
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
