// Changes the secret that is stored beside the SQLite file. The one before stays in a second file until nothing needs it, so that an
// interruption at any moment leaves both secrets on the disk.
import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createDurably, replaceDurably, syncFolder } from '../basics/durable-file.ts'
import type { Secrets } from '../basics/secrets.ts'
import { previousSecretFileOf, readSecret, secretFileOf } from './sealing-secret.ts'

/** Makes the new secret, or continues an interrupted change. `path` is that of the database. */
export function beginChange(path: string): Secrets {
  const [file, previousFile] = [secretFileOf(path), previousSecretFileOf(path)]
  const before = readSecret(file)
  createDurably(previousFile, `${before}\n`)
  // An earlier change may have got as far as this.
  const previous = readSecret(previousFile)
  if (previous === before) replaceDurably(file, `${randomBytes(32).toString('base64url')}\n`)
  return { current: readSecret(file), previous }
}

/** Leaves the secret before beside the new one until that day (`2026-12-31`). Returns its file. */
export function endChange(path: string, keptUntil: string | undefined): string | undefined {
  const previous = previousSecretFileOf(path)
  const kept =
    keptUntil === undefined ? undefined : keep(`${secretFileOf(path)}.until-${keptUntil}`, `${readSecret(previous)}\n`)
  rmSync(previous)
  syncFolder(dirname(path))
  return kept
}

/** A second change of the same day has a file of its own. */
function keep(file: string, text: string, n = 1): string {
  const numbered = n === 1 ? file : `${file}-${n}`
  return createDurably(numbered, text) ? numbered : keep(file, text, n + 1)
}

/** Deletes the secrets that were kept until a day before `today`. */
export function removeKeptSecrets(path: string, today: string): void {
  const prefix = `${basename(secretFileOf(path))}.until-`
  for (const name of readdirSync(dirname(path)))
    if (name.startsWith(prefix) && name.slice(prefix.length).slice(0, today.length) < today)
      rmSync(join(dirname(path), name))
}
