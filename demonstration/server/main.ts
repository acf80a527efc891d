// The service starts this process (server/demonstration/child.ts). It ends with their channel.
import { mkdtempSync, rmSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveDemonstration } from './serve.ts'
import type { ChildSettings, Started } from './settings.ts'

/** Readers of the demonstration never delay the service's users. */
const niceness = 10

// The service ends this process after its own last request, but Ctrl-C reaches both.
process.on('SIGINT', () => {})
process.once('message', async (settings: ChildSettings) => {
  setPriority(niceness)
  const folder = mkdtempSync(join(tmpdir(), 'carillon-demonstration-'))
  const monotonic = () => performance.now()
  const { port, end } = await serveDemonstration(settings, { folder, wall: Date.now, monotonic })
  const stop = () =>
    end().finally(() => {
      rmSync(folder, { recursive: true, force: true })
      process.exit()
    })
  if (!process.connected) return stop()
  process.once('disconnect', () => void stop())
  process.send?.({ port, folder } satisfies Started)
})
