import { spawnSync } from 'node:child_process'

/** Returns what the program printed. Throws if it fails. */
export function run(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    env,
    maxBuffer: 2 ** 28,
  })
  if (status !== 0)
    throw new Error(`${program} ${args.join(' ')} failed: ${error ?? stdout + stderr}`)
  return stdout
}

/** An option that a program does not know, such as --help, ends it with its help. */
export function refuseOption(option: string | undefined, help: string): void {
  if (option === undefined) return
  if (option === '--help') process.stdout.write(help)
  else process.stderr.write(`unknown option ${option}\n\n${help}`)
  process.exit(option === '--help' ? 0 : 2)
}
