// The secret that seals the signing keys: a setting, or on SQLite a file beside the database
// (0600), so that a first start needs no setting.
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createDurably, replaceDurably, syncFolder } from '../basics/durable-file.ts'
import { CarillonError, unavailable } from '../basics/errors.ts'
import { randomText, type Secrets } from '../basics/secrets.ts'
import type { Database } from '../store/database.ts'
import type { Store } from '../store/store.ts'
import { signingKeys } from './signing-keys.store.ts'

export type Sealed = {
  secret?: string | undefined
  previousSecret?: string | undefined
  database: Database
}

export async function sealingSecrets(settings: Sealed, store: Store): Promise<Secrets> {
  const kept = keptSecrets(settings)
  if (kept !== undefined) return kept
  const { database } = settings
  const file = database.engine === 'sqlite' ? secretFileOf(database.path) : undefined
  if ((await store.read(signingKeys)).length > 0) {
    const problem =
      file === undefined
        ? 'No secret is set, and this database has signing keys'
        : `${file} is gone, and with it the secret of this database's signing keys`
    throw unavailable(problem, `${sealedAdvice}.`)
  }
  if (file === undefined) throw unavailable('No secret is set', howToMake)
  // Two processes may start at once.
  createDurably(file, newSecret())
  return keptSecrets(settings) ?? { current: readSecret(file), previous: undefined }
}

export function secretsIn(settings: Sealed): Secrets | undefined {
  try {
    return keptSecrets(settings)
  } catch {
    return undefined
  }
}

function keptSecrets({ secret, previousSecret, database }: Sealed): Secrets | undefined {
  if (secret !== undefined || database.engine !== 'sqlite')
    return secret === undefined ? undefined : { current: secret, previous: previousSecret }
  const current = readIfThere(secretFileOf(database.path))
  const previous = previousSecret ?? readIfThere(previousSecretFileOf(database.path))
  return current === undefined ? undefined : { current, previous }
}

function newSecret(): string {
  return `${randomText()}\n`
}

const howToMake =
  'Set CARILLON_SECRET (or CARILLON_SECRET_FILE) to 32 random characters or more, the same on every node; ' +
  'such as: openssl rand -base64 32'

export const sealedAdvice =
  'Set CARILLON_SECRET (or CARILLON_SECRET_FILE) to the secret that these signing keys were sealed with; for a database ' +
  'moved from SQLite, that is the .secret file beside the old database'

export function secretFileOf(path: string): string {
  return `${path.replace(/\.db$/, '')}.secret`
}

function previousSecretFileOf(path: string): string {
  return `${secretFileOf(path)}.previous`
}

/** An empty secret must never seal a key. */
export function readSecret(file: string): string {
  const secret = readFileSync(file, 'utf8').trim()
  if (secret !== '') return secret
  const problem = `${file} is empty; a power cut can do that to a file that was just written`
  const without =
    'without a copy, remove the file: docs/operations/keys-and-secrets.md, "A secret that is lost".'
  throw unavailable(problem, `Put the secret back from your copy; ${without}`)
}

function readIfThere(file: string): string | undefined {
  try {
    return readSecret(file)
  } catch (error) {
    if (error instanceof CarillonError) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unavailable(`${file} cannot be read`, 'Make it readable for this user.')
  }
}

/** Both secrets are on the disk until `endChange`. */
export function beginChange(path: string): Secrets {
  const file = secretFileOf(path)
  const previousFile = previousSecretFileOf(path)
  const before = readSecret(file)
  createDurably(previousFile, `${before}\n`)
  const previous = readSecret(previousFile)
  if (previous === before) replaceDurably(file, newSecret())
  return { current: readSecret(file), previous }
}

/** Until that day (`2026-12-31`) the earlier secret stays beside the new one. Returns its file. */
export function endChange(path: string, keptUntil: string | undefined): string | undefined {
  const previous = previousSecretFileOf(path)
  const kept =
    keptUntil && keep(`${secretFileOf(path)}.until-${keptUntil}`, `${readSecret(previous)}\n`)
  rmSync(previous)
  syncFolder(dirname(path))
  return kept
}

function keep(file: string, text: string, n = 1): string {
  const numbered = n === 1 ? file : `${file}-${n}`
  return createDurably(numbered, text) ? numbered : keep(file, text, n + 1)
}

export function removeKeptSecrets(path: string, today: string): void {
  const prefix = `${basename(secretFileOf(path))}.until-`
  for (const name of readdirSync(dirname(path)))
    if (name.startsWith(prefix) && name < prefix + today) rmSync(join(dirname(path), name))
}
