import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../../carillon.ts', import.meta.url))

export type Ended = { status: number | null; stdout: string; stderr: string }

export function start(args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CARILLON_'))
  return spawn(process.execPath, [program, ...args], {
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

export async function carillon(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Ended> {
  const child = start(args, env)
  const [stdout, stderr] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
    once(child, 'close'),
  ])
  return { status: child.exitCode, stdout, stderr }
}
