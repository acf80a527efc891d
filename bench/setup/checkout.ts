// The Carillon that a scenario measures: this checkout, or the one that it is compared with (`--before`). A scenario uses its command line
// and its HTTP API only, so that any two versions can be compared.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { environment } from '../processes/processes.ts'

export type Checkout = {
  /** 'now' is this checkout. */
  name: 'now' | 'before'
  root: string
}

export const thisCheckout: Checkout = {
  name: 'now',
  root: fileURLToPath(new URL('../../', import.meta.url)),
}

/** As after `npm ci`: a service whose sources have changed since then would run them instead of its bundle, and start later. */
export async function bundle({ root }: Checkout): Promise<void> {
  const { isBundleCurrent }: typeof import('../../server/bin/run.js') = await import(
    pathToFileURL(join(root, 'server/bin/run.js')).href
  )
  // Other processes, such as those of other tests, may be running it.
  if (!isBundleCurrent()) run(root, 'tools/bundle.js')
}

/** The output of a command of the checkout. */
export function run(
  root: string,
  script: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
) {
  const options = { cwd: root, encoding: 'utf8', env: { ...environment(), ...env } } as const
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, script), ...args],
    options,
  )
  if (status !== 0) throw new Error(`${script} ${args.join(' ')} failed in ${root}: ${stderr}`)
  return stdout
}
