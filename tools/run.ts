import { spawnSync } from 'node:child_process'

/** Returns what the program printed. Throws if it fails. */
export function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', env, maxBuffer: 2 ** 28 })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${error ?? stdout + stderr}`)
  return stdout
}
