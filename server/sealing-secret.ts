// The secret that seals the signing keys: the one that is set, or on SQLite one that is made once and kept beside the
// database (mode 0600), so that a first start needs no settings.
import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { CarillonError } from './errors.ts'
import { sqlitePath } from './store/open.ts'
import type { Store } from './store/store.ts'

/** Throws UNAVAILABLE where none is set and none may be made. */
export async function sealingSecret(
  { secret, databaseUrl }: { secret?: string; databaseUrl: string },
  store: Pick<Store, 'signingKeys'>,
): Promise<string> {
  if (secret !== undefined) return secret
  const path = sqlitePath(databaseUrl)
  if (path === undefined)
    throw new CarillonError(
      'UNAVAILABLE',
      'Set CARILLON_SECRET (or CARILLON_SECRET_FILE) to 32 random characters or more, the same on every node; ' +
        'such as: openssl rand -base64 32',
    )
  const file = secretFileOf(path)
  const kept = readIfThere(file)
  if (kept !== undefined) return kept
  const keys = await store.signingKeys()
  if (keys.length > 0)
    throw new CarillonError(
      'UNAVAILABLE',
      `${file} is gone, and with it the secret of this database's signing keys. Put it back, or set CARILLON_SECRET.`,
    )
  return makeOnce(file)
}

/** Where the secret of the database at `path` is kept. */
export function secretFileOf(path: string): string {
  return `${path.replace(/\.db$/, '')}.secret`
}

/** Of two processes that start at once, one makes it and both read it: a link never replaces, and is never half written. */
function makeOnce(file: string): string {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
  return readFileSync(file, 'utf8').trim()
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new CarillonError('UNAVAILABLE', `${file} cannot be read. Make it readable for this user.`, { cause: error })
  }
}
