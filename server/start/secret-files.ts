// Changes the secret that is stored beside the SQLite file. The one before stays in a second file until nothing needs it, so that an
// interruption at any moment leaves both secrets on the disk.
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { createDurably, replaceDurably, syncFolder } from '../files/durable-file.ts'
import type { Secrets } from '../sign-in/sealing.ts'
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

export function endChange(path: string): void {
  rmSync(previousSecretFileOf(path))
  syncFolder(dirname(path))
}
