// Imports all users of a file, or none if one has a fault.
import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { withoutControls } from '../../basics/control-characters.ts'
import { CarillonError } from '../../basics/errors.ts'
import type { UserDependencies } from '../../users/find-user.ts'
import { type EntryFault, importUsers } from '../../users/import.ts'
import { type Output, print, WrongUse } from '../terminal/output.ts'
import { interruptible, progress } from '../terminal/progress.ts'

export const importHelp = `
Each line is a JSON object. It has an externalId (the id in your application), a username, or both, and may have
displayName, locale, email, passwordHash and disabled:

  {"externalId":"42","username":"ann","displayName":"Ann Lee","locale":"en","passwordHash":"$2b$12$..."}

passwordHash takes bcrypt, scrypt, argon2 and PBKDF2 hashes; docs/sign-in/moving-users.md lists their forms. The users
sign in with their old passwords. The service may be running. All lines are checked first: if one has a fault, every fault
is listed with its line, and nothing is imported. A user that exists is changed, and keeps a password, so the same file can
be imported again.

Examples:
  npx carillon user import users.jsonl
  psql shop -Atc "select json_build_object('externalId', id, 'email', email) from users" | npx carillon user import -`

export async function importFrom(
  users: UserDependencies,
  file: string,
  options: Output,
): Promise<void> {
  const found = (await read(file))
    .split('\n')
    .flatMap((text, n) => (text.trim() === '' ? [] : [{ text, line: n + 1 }]))
  const values = found.map(({ text }) => parse(text))
  const lines = found.map(({ line }) => line)
  if (values.length === 0)
    throw new CarillonError('INVALID_REQUEST', `${file === '-' ? 'stdin' : file} has no users`)
  const total = values.length
  let done = 0
  let advance: ((count: number) => void) | undefined
  const report = (count: number) => {
    advance ??= progress(options)('import', { total })
    advance(count - done)
    done = count
  }
  const state = () => `${done} of ${total} users are imported; import the file again for the rest.`
  const outcome = await interruptible(state, () => importUsers(users, values, { report }))
  if ('faults' in outcome) return refuse(outcome.faults, lines, options)
  const created = outcome.imported.filter((one) => one.created).length
  const updated = total - created
  const summary = `Imported ${total} users: ${created} created, ${updated} updated`
  const erased = outcome.imported.some(({ user }) => user.erased)
  print(options, { imported: total, created, updated, ...(erased && { erased }) }, () => summary)
}

async function read(file: string): Promise<string> {
  const bytes = await (file === '-' ? buffer(process.stdin) : readFile(file)).catch(
    (error: NodeJS.ErrnoException) => {
      throw new WrongUse(`${file} cannot be read: ${error.code}`)
    },
  )
  if (!isUtf8(bytes)) throw new CarillonError('INVALID_REQUEST', 'The file is not UTF-8')
  return bytes.toString('utf8')
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function refuse(faults: readonly EntryFault[], lines: readonly number[], options: Output): void {
  const listed = faults.map(({ position, field, reason: own, sameAs }) => {
    const reason = sameAs === undefined ? own : `is the same as in line ${lines[sameAs]}`
    return { line: lines[position], field, reason }
  })
  process.exitCode = 1
  if (options.json) return void print(options, { imported: 0, faults: listed }, () => [])
  const text = listed.map(({ line, field, reason }) => {
    return `line ${line}: ${field === '' ? '' : `${withoutControls(field.slice(0, 64))}: `}${reason}\n`
  })
  const wrong = new Set(listed.map(({ line }) => line)).size
  const summary = `carillon: Nothing was imported: ${wrong} of ${lines.length} lines ${wrong === 1 ? 'has a fault' : 'have faults'}\n`
  process.stderr.write(`${text.join('')}${summary}`)
}
