import { spawnSync } from 'node:child_process'

/** Returns what the program printed. Throws if it fails. */
export function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', env, maxBuffer: 2 ** 28 })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${error ?? stdout + stderr}`)
  return stdout
}

/** Prints the help, and beside it an option that is unknown. */
export function endWithHelp(option: string, help: string): never {
  const isAskedFor = option === '--help'
  if (isAskedFor) process.stdout.write(help)
  else process.stderr.write(`unknown option ${option}\n\n${help}`)
  process.exit(isAskedFor ? 0 : 2)
}
