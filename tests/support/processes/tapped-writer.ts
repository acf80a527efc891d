// For tests: loaded before the program (--import), it ends the writer thread when the process gets SIGUSR2, as a crash of
// that thread would. The thread is the one that ships.
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
