// Makes the service report its processor time, memory and event loop delay over IPC. Loaded by `node --import`, so that the
// service itself runs as shipped.
import { isMainThread } from 'node:worker_threads'
import { probe } from './probe.ts'
import { serveRequests } from './respond.ts'

// A worker thread inherits the option that loads this.
if (isMainThread && process.send !== undefined) {
  serveRequests(probe)
  process.channel?.unref()
}
