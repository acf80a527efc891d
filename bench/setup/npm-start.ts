// Starts the Carillon of a checkout as `npm start` does: by the command in its package.json, with its packages in PATH. Nothing of the
// bench is loaded into it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { processorUsOf, residentMegabytes } from '../processes/of-process.ts'
import { endWithBench, environment } from '../processes/processes.ts'
import { freePort, type Place, settingsOf, untilReady } from './service.ts'

export async function startAsNpm({ env = {}, ...place }: Place & { env?: Readonly<Record<string, string>> }) {
  const { root } = place.checkout
  const port = await freePort()
  const command = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts.start as string
  const log = openSync(join(place.dir, 'carillon.log'), 'a')
  const path = [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter)
  const startedAt = performance.now()
  const child = spawn('sh', ['-c', command], {
    cwd: root,
    env: { ...environment(), PATH: path, ...settingsOf(place, port), ...env },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  endWithBench(child)
  const ended = once(child, 'exit')
  const died = ended.then(([status]) => Promise.reject(new Error(`${command} ended with status ${status}`)))
  died.catch(() => {})
  await Promise.race([untilReady(port), died])
  const pid = child.pid as number
  return {
    port,
    startedInMs: performance.now() - startedAt,
    /** Milliseconds of processor time until the first response, all threads. */
    processorMs: processorUsOf(pid) / 1_000,
    residentMegabytes: () => residentMegabytes(pid),
    async stop() {
      child.kill()
      await ended
    },
  }
}
