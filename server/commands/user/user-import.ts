// `carillon user import`: users from a file with one JSON object per line. All of them, or none if one has a fault.
import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { CarillonError } from '../../basics/errors.ts'
import { type EntryFault, importUsers } from '../../users/import.ts'
import type { UserDependencies } from '../../users/users.ts'
import { interruptible } from '../terminal/interruption.ts'
import { type Output, print, WrongUse } from '../terminal/output.ts'
import { withProgress } from '../terminal/progress.ts'

export const importHelp = `
Each line is a JSON object. It has an externalId (the id in your application), a username, or both, and may have
displayName, locale, email, passwordHash and disabled:

  {"externalId":"42","username":"ann","displayName":"Ann Lee","locale":"en","passwordHash":"$2b$12$..."}

passwordHash takes bcrypt, scrypt, argon2 and PBKDF2 hashes; docs/sign-in.md lists their forms. The users sign in with their
old passwords. The service may be running. All lines are checked first: if one has a fault, every fault is listed with its
line, and nothing is imported. A user that exists is changed, and keeps a password, so the same file can be imported again.

Examples:
  npx carillon user import users.jsonl
  psql shop -Atc "select json_build_object('externalId', id, 'email', email) from users" | npx carillon user import -`

export async function importFrom(dependencies: UserDependencies, file: string, options: Output): Promise<void> {
  const { values, lines } = parseLines(await read(file))
  if (values.length === 0) throw new CarillonError('INVALID_REQUEST', `${file === '-' ? 'stdin' : file} has no users`)
  let done = 0
  const outcome = await interruptible(
    () => `${done} of ${values.length} users are imported; import the file again for the rest.`,
    () =>
      withProgress(options, (begin) => {
        let advance: ReturnType<typeof begin> | undefined
        const report = (count: number) => {
          advance ??= begin('import', { total: values.length })
          advance(count - done)
          done = count
        }
        return importUsers(dependencies, values, { report })
      }),
  )
  if ('faults' in outcome) {
    refuse(outcome.faults, lines, options)
    return
  }
  const created = outcome.imported.filter((one) => one.created).length
  const updated = outcome.imported.length - created
  print(options, { imported: values.length, created, updated }, () => {
    return `Imported ${values.length} users: ${created} created, ${updated} updated`
  })
}

async function read(file: string): Promise<string> {
  const bytes = file === '-' ? await buffer(process.stdin) : readNamed(file)
  if (!isUtf8(bytes)) throw new CarillonError('INVALID_REQUEST', 'The file is not UTF-8')
  return bytes.toString('utf8')
}

function readNamed(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new WrongUse(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}

/** Blank lines are skipped. `lines` has the number of each value's line. A line that is not JSON becomes undefined, which is no user. */
function parseLines(text: string): { values: unknown[]; lines: number[] } {
  const found = text.split('\n').flatMap((line, n) => (line.trim() === '' ? [] : [{ value: parse(line), line: n + 1 }]))
  return { values: found.map(({ value }) => value), lines: found.map(({ line }) => line) }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function refuse(faults: readonly EntryFault[], lines: readonly number[], options: Output): void {
  const listed = faults.map(({ position, field, reason, sameAs }) => {
    return {
      line: lines[position],
      field,
      reason: sameAs === undefined ? reason : `is the same as in line ${lines[sameAs]}`,
    }
  })
  process.exitCode = 1
  if (options.json) {
    print(options, { imported: 0, faults: listed }, () => [])
    return
  }
  const text = listed.map(
    ({ line, field, reason }) => `line ${line}: ${field === '' ? '' : `${printable(field)}: `}${reason}\n`,
  )
  const wrong = new Set(listed.map(({ line }) => line)).size
  const summary = `carillon: Nothing was imported: ${wrong} of ${lines.length} lines ${wrong === 1 ? 'has a fault' : 'have faults'}\n`
  process.stderr.write(`${text.join('')}${summary}`)
}

/** The name of an unknown field, without characters that control the terminal. */
function printable(field: string): string {
  return field.slice(0, 64).replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '\ufffd')
}
