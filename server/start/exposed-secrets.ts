// Warns of secret files that every user of this machine may read; an operator's may have any mode.
import { readFileSync, statSync } from 'node:fs'
import type { Log } from '../basics/log.ts'
import { type Config, settings } from '../config/settings.ts'
import { hasPassword } from '../config/url-passwords.ts'
import type { Environment } from '../config/values.ts'
import { secretFileOf } from '../tokens/sealing-secret.ts'

export function warnOfExposedSecrets(
  log: Log,
  { database, secret }: Config,
  env: Environment,
): void {
  const files = settings.flatMap((setting) => {
    const file = env[`${setting.name}_FILE`]
    return file !== undefined && (setting.secret || hasPassword(readFileSync(file, 'utf8')))
      ? [file]
      : []
  })
  if (secret === undefined && database.engine === 'sqlite') files.push(secretFileOf(database.path))
  for (const file of files)
    if (isForAll(file))
      log.warn(
        { event: 'secret-exposed', file },
        'every user of this machine may read this secret: chmod 600',
      )
}

function isForAll(file: string): boolean {
  return process.platform !== 'win32' && (statSync(file).mode & 0o004) !== 0
}
