// Node loads it before the program (--import). SIGUSR2 terminates the writer thread, as a crash
// would; the thread itself is unchanged.
import { syncBuiltinESMExports } from 'node:module'

const threads = process.getBuiltinModule('node:worker_threads')
const started: InstanceType<typeof threads.Worker>[] = []

threads.Worker = class extends threads.Worker {
  constructor(...args: ConstructorParameters<typeof threads.Worker>) {
    super(...args)
    started.push(this)
  }
}
syncBuiltinESMExports()

process.on('SIGUSR2', () => {
  for (const thread of started) void thread.terminate()
  process.stderr.write('terminated\n')
})
