// Loaded before the program (--import): runs SQL on the writer thread's own connection. It comes
// over a BroadcastChannel, so that the thread runs its shipped code.
import { syncBuiltinESMExports } from 'node:module'
import { BroadcastChannel, isMainThread } from 'node:worker_threads'

if (!isMainThread) {
  const sqlite = process.getBuiltinModule('node:sqlite')
  const connections: InstanceType<typeof sqlite.DatabaseSync>[] = []
  sqlite.DatabaseSync = class extends sqlite.DatabaseSync {
    constructor(...args: ConstructorParameters<typeof sqlite.DatabaseSync>) {
      super(...args)
      connections.push(this)
    }
  }
  syncBuiltinESMExports()
  const channel = new BroadcastChannel('writer-tap')
  channel.onmessage = (event) => {
    const { data } = event as unknown as { data: unknown }
    if (typeof data === 'string')
      channel.postMessage(
        connections.filter(({ isOpen }) => isOpen).flatMap((one) => one.prepare(data).all()),
      )
  }
  channel.unref()
}
