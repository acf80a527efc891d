// Makes the service report its processor time over IPC. Loaded by `node --import`, so that the service itself runs as shipped.
import { isMainThread } from 'node:worker_threads'
import { serveRequests } from './respond.ts'

// A worker thread inherits the option that loads this.
if (isMainThread && process.send !== undefined) {
  serveRequests(() => undefined)
  process.channel?.unref()
}
