// The process that launch.js starts with the newer Node. It ends with its launcher: a launcher that is killed (SIGKILL) forwards
// no signal, and the port would stay in use. The operating system closes the channel between the two in any case.

import { run } from './run.js'

/** As if the launcher had forwarded SIGTERM: `serve` drains, other commands end as usual. */
const end = () => process.kill(process.pid, 'SIGTERM')

if (process.connected) {
  process.once('disconnect', end)
  // Only the work itself keeps the process alive.
  process.channel?.unref()
  await run()
} else end()
