// `carillon user export`: everything that the service keeps of a user, to stdout or to a new file.
import { createWriteStream, rmSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createEmpty } from '../../basics/durable-file.ts'
import { exportOf } from '../../own-data/export.ts'
import { findUser, type UserKey } from '../../users/users.ts'
import { interruptible } from '../terminal/interruption.ts'
import { type Output, print, WrongUse } from '../terminal/output.ts'
import { identityOf, nameOf, type Users } from './user-key.ts'

export const exportHelp = `
One JSON object per line, each with a type: user, session, device, factor, provider-account, preference, activity, notification. Users
download the same on their account page. It contains no password and no other secret.

Examples:
  npx carillon user export ann > ann.jsonl
  npx carillon user export --external-id customer-42 --out customer-42.jsonl`

export async function exportOne(users: Users, key: UserKey, options: Output & { out?: string }): Promise<void> {
  const { out } = options
  const user = await findUser(users, key)
  const lines = exportOf(users, user)
  if (out === undefined)
    return pipeline(lines, process.stdout, { end: false }).catch((error) => {
      // The reading program has closed the pipe, as `head` does.
      if (error.code !== 'EPIPE') throw error
    })
  await interruptible(
    () => `${out} is not complete.`,
    () => writeNew(out, lines),
  )
  print(options, identityOf(user, { file: out }), () => `Wrote the data of ${nameOf(user)} to ${out}`)
}

/** Mode 0600. If it cannot be written, no part of it is left. */
async function writeNew(file: string, lines: AsyncIterable<string>): Promise<void> {
  try {
    createEmpty(file)
  } catch (error) {
    throw new WrongUse(`${file} cannot be created: ${(error as NodeJS.ErrnoException).code}`)
  }
  try {
    await pipeline(lines, createWriteStream(file, { flags: 'r+', flush: true }))
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  }
}
