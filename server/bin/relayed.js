// launch.js starts this. A killed launcher forwards no signal, but the system closes the channel:
// then the port becomes free, too.

import { run } from './run.js'

/** It has the effect of a forwarded SIGTERM. */
const end = () => process.kill(process.pid, 'SIGTERM')

if (process.connected) {
  process.once('disconnect', end)
  process.channel?.unref()
  await run()
} else end()
