// What the kernel and the disk allow, without any JavaScript: a responder on epoll in C, and writes that are synced.
import { spawnSync } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../tests/support/network/free-port.ts'
import type { Server } from '../load/load.ts'
import { type HttpResponse, request } from '../load/requests.ts'
import { processorUsOf } from '../processes/of-process.ts'
import { BenchProcess } from '../processes/processes.ts'
import type { Bench } from '../report/scenario.ts'

const source = fileURLToPath(new URL('./responder.c', import.meta.url))

/** Compiles the responder. Undefined if this machine has no `cc`, or is not Linux. */
export function compileResponder({ dir }: Pick<Bench, 'dir'>): string | undefined {
  if (process.platform !== 'linux') return undefined
  const program = join(dir, 'responder')
  const { status, error } = spawnSync('cc', ['-O2', '-Wall', '-Werror', '-o', program, source], {
    stdio: 'inherit',
  })
  if (error !== undefined) return undefined
  if (status !== 0) throw new Error(`cc cannot compile ${source}`)
  return program
}

/** Sends what the service at `port` responds to `text`, to every request. */
export async function startResponder(
  bench: Bench,
  { program, port, text }: { program: string; port: number; text: string },
): Promise<Server> {
  const response = await request(port, text)
  const own = await freePort()
  const path = join(bench.dir, `response-${own}`)
  writeFileSync(path, bytesOf(response))
  const responder = new BenchProcess(bench, {
    command: [program, String(own), path],
    role: 'server',
    responds: false,
  })
  await Promise.race([untilOpen(own), responder.death])
  const { pid } = responder
  return {
    port: own,
    process: { pid, request: async () => usageOf(pid) as never, stop: () => responder.stop() },
  }
}

/** In the unit of Linux: 10 ms. */
function usageOf(pid: number) {
  return { processorUs: processorUsOf(pid), at: performance.now() }
}

function bytesOf({ status, headers, body }: HttpResponse): Buffer {
  const fields = headers.map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`HTTP/1.1 ${status} OK\r\n${fields.join('')}\r\n${body}`, 'latin1')
}

async function untilOpen(port: number): Promise<void> {
  const isOpen = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () =>
        resolve(false),
      )
      socket.on('close', () => resolve(false)).once('connect', () => socket.destroy())
    })
  while (!(await isOpen())) await pause(5)
}

/** Appends so many bytes to a file and syncs them, one time after the other: per second. */
export function syncedWrites(
  { dir }: Pick<Bench, 'dir'>,
  bytes: number,
  seconds: number,
): { perSecond: number } {
  const path = join(dir, 'synced')
  const file = openSync(path, 'w')
  const block = Buffer.alloc(bytes, 1)
  const beganAt = performance.now()
  let count = 0
  while (performance.now() - beganAt < seconds * 1_000) {
    writeSync(file, block)
    fdatasyncSync(file)
    count++
  }
  const perSecond = (count / (performance.now() - beganAt)) * 1_000
  closeSync(file)
  rmSync(path)
  return { perSecond }
}
