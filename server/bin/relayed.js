// The process that launch.js starts under the newer Node. It ends with its launcher: a launcher that is killed (SIGKILL)
// passes no signal on, and the port would stay taken. The system closes the channel between the two in any case.

import { run } from './run.js'

if (process.connected) {
  process.once('disconnect', end)
  // Only the work itself keeps the process alive.
  process.channel?.unref()
  await run()
} else end()

/** As if the launcher had passed on SIGTERM: `serve` drains, other commands end as they do. */
function end() {
  process.kill(process.pid, 'SIGTERM')
}
