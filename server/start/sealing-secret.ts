// The secret that seals the signing keys: the setting, or on SQLite a generated one that is stored beside the database (mode
// 0600), so that a first start needs no settings. While it changes there is a previous one, too: a setting, or a second file.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createDurably } from '../basics/durable-file.ts'
import { CarillonError } from '../basics/errors.ts'
import type { Secrets } from '../basics/secrets.ts'
import type { Database } from '../config/database-url.ts'
import type { Store } from '../store/store.ts'
import { signingKeys } from '../tokens/signing-keys.store.ts'

type Sealed = { secret?: string | undefined; previousSecret?: string | undefined; database: Database }

/** Throws UNAVAILABLE if no secret is set and none may be generated. */
export async function sealingSecrets(settings: Sealed, store: Store): Promise<Secrets> {
  const current = await currentSecret(settings, store)
  return { current, previous: previousSecretIn(settings) }
}

async function currentSecret({ secret, database }: Sealed, store: Store): Promise<string> {
  if (secret !== undefined) return secret
  const file = database.engine === 'sqlite' ? secretFileOf(database.path) : undefined
  const kept = file === undefined ? undefined : readIfThere(file)
  if (kept !== undefined) return kept
  if ((await store.read(signingKeys)).length > 0) {
    const problem =
      file === undefined
        ? 'No secret is set, and this database has signing keys'
        : `${file} is gone, and with it the secret of this database's signing keys`
    throw new CarillonError('UNAVAILABLE', problem, { remedy: `${sealedAdvice}.` })
  }
  if (file === undefined) throw new CarillonError('UNAVAILABLE', 'No secret is set', { remedy: howToMake })
  // If two processes start at the same time, one creates the file and both read it.
  createDurably(file, `${randomBytes(32).toString('base64url')}\n`)
  return readSecret(file)
}

/** The secrets that are set, or stored beside the database; undefined if there is none, or if it cannot be read. */
export function secretsIn(settings: Sealed): Secrets | undefined {
  const { secret, database } = settings
  try {
    const current = secret ?? (database.engine === 'sqlite' ? readSecret(secretFileOf(database.path)) : undefined)
    return current === undefined ? undefined : { current, previous: previousSecretIn(settings) }
  } catch {
    return undefined
  }
}

/** The file with a generated secret has its predecessor beside it until everything is sealed with the new one. */
function previousSecretIn({ secret, previousSecret, database }: Sealed): string | undefined {
  if (previousSecret !== undefined || secret !== undefined || database.engine !== 'sqlite') return previousSecret
  return readIfThere(previousSecretFileOf(database.path))
}

const howToMake =
  'Set CARILLON_SECRET (or CARILLON_SECRET_FILE) to 32 random characters or more, the same on every node; ' +
  'such as: openssl rand -base64 32'

/** For signing keys without their secret: a new secret would not open them. */
export const sealedAdvice =
  'Set CARILLON_SECRET (or CARILLON_SECRET_FILE) to the secret that these signing keys were sealed with; for a database ' +
  'moved from SQLite, that is the .secret file beside the old database'

export function secretFileOf(path: string): string {
  return `${path.replace(/\.db$/, '')}.secret`
}

export function previousSecretFileOf(path: string): string {
  return `${secretFileOf(path)}.previous`
}

/** The secret in `file`. Throws UNAVAILABLE if the file is empty: an empty secret must never seal a key. */
export function readSecret(file: string): string {
  const secret = readFileSync(file, 'utf8').trim()
  if (secret !== '') return secret
  throw new CarillonError('UNAVAILABLE', `${file} is empty; a power cut can do that to a file that was just written`, {
    remedy:
      'Put the secret back from your copy; without a copy, remove the file: docs/operations.md, "A secret that is lost".',
  })
}

function readIfThere(file: string): string | undefined {
  try {
    return readSecret(file)
  } catch (error) {
    if (error instanceof CarillonError) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    const remedy = 'Make it readable for this user.'
    throw new CarillonError('UNAVAILABLE', `${file} cannot be read`, { remedy, cause: error })
  }
}
