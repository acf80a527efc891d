// What runs in the other process: opens, locks and calls as it is told over the channel to its parent. See
// other-process.ts.
import { BroadcastChannel } from 'node:worker_threads'
import { CarillonError } from '../../../errors.ts'
import type { Store } from '../../store.ts'
import { connect, type Database, openDatabase } from '../database.ts'
import { openSqliteStore } from '../store.ts'

export type Order =
  | { act: 'open'; path: string }
  | { act: 'call'; method: keyof Store; args: unknown[] }
  | { act: 'run'; path: string; sql: string }
  | { act: 'ask writer'; sql: string }
  | { act: 'open database as nobody'; path: string }
  | { act: 'open and close'; path: string; rounds: number }
export type Report = { ok: true; value: unknown } | { ok: false; code: string; message: string }

const nobody = 65_534
let store: Store | undefined
let connection: Database | undefined

async function obey(order: Order): Promise<unknown> {
  switch (order.act) {
    case 'open': {
      const opened = await openSqliteStore(order.path)
      store = opened.store
      return opened.migrations
    }
    case 'call':
      if (store === undefined) throw new Error('open a store first')
      return (store[order.method] as (...args: unknown[]) => unknown)(...order.args)
    case 'run':
      connection = connect(order.path)
      connection.exec(order.sql)
      return undefined
    case 'ask writer':
      return askWriter(order.sql)
    case 'open database as nobody':
      dropRoot()
      openDatabase(order.path).close()
      return undefined
    case 'open and close':
      return failuresOf(order)
  }
}

/** Opens a store and closes it, so many times; answers why the store said that it had failed. */
async function failuresOf({ path, rounds }: { path: string; rounds: number }): Promise<string[]> {
  const failures: string[] = []
  for (let round = 0; round < rounds; round++) {
    const opened = await openSqliteStore(path)
    void opened.store.failed.then((error) => failures.push(error.message))
    await opened.store.close()
  }
  return failures
}

/** Asks the writer's connection, where writer-tap.ts was loaded first. */
async function askWriter(sql: string): Promise<unknown> {
  const channel = new BroadcastChannel('writer-tap')
  const answered = new Promise((resolve) => {
    channel.onmessage = (event) => resolve((event as unknown as { data: unknown }).data)
  })
  channel.postMessage(sql)
  const answer = await answered
  channel.close()
  return answer
}

/** Root may write where nobody may; whoever is not root is held by the file's mode already. */
function dropRoot(): void {
  if (process.getuid?.() !== 0) return
  process.setgroups?.([])
  process.setgid?.(nobody)
  process.setuid?.(nobody)
}

process.on('message', async ([number, order]: [number, Order]) => {
  const report = await obey(order).then(
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
