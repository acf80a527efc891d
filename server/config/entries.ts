import { invalid, isExposed } from './values.ts'

export type Entry = Readonly<Record<string, unknown>>
export type Report = (problem: string) => void

type Kind<Value> = {
  members: readonly string[]
  max: number
  form: string
  read: (entry: Entry, report: Report, isOnly: boolean) => Value
  conflicts: (values: readonly Value[]) => readonly string[]
}

export function readEntries<Value>(
  text: string,
  { members, max, form, read, conflicts }: Kind<Value>,
) {
  const entries = text === 'none' ? [] : parsed(text)
  if (entries === undefined || entries.length > max || (entries.length === 0 && text !== 'none'))
    return invalid(`write a JSON array, such as ${form}, or none`)
  const problems: string[] = []
  const values = entries.flatMap((entry, at) => {
    const report = (problem: string) => problems.push(`entry ${at + 1}: ${problem}`)
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
      report('write an object')
      return []
    }
    for (const name of Object.keys(entry).filter((one) => !members.includes(one)))
      report(`${JSON.stringify(name.slice(0, 80))} is not a member; write ${members.join(', ')}`)
    return [read(entry as Entry, report, entries.length === 1)]
  })
  problems.push(...conflicts(values))
  return problems.length > 0 ? invalid(problems.join('; ')) : Object.freeze(values)
}

/** The parser's message would quote the text, which may be a secret. */
function parsed(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const maxLength = 255

export function isText(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && value.length <= maxLength && !/\p{C}/u.test(value)
  )
}

export function repeated<Value>(values: readonly Value[], member: keyof Value): string[] {
  const texts = values.map((value) => value[member]).filter((text) => typeof text === 'string')
  return [...new Set(texts.filter((text, at) => texts.indexOf(text) !== at))].map((text) =>
    JSON.stringify(text),
  )
}

export function readOrigins(origins: unknown = [], report: Report): readonly string[] {
  const isOrigin = (one: unknown) =>
    typeof one === 'string' && URL.parse(one)?.origin === one && !isExposed(one)
  if (Array.isArray(origins) && origins.length <= 20 && origins.every(isOrigin)) return origins
  report('"origins": write a list of https origins, such as ["https://keys.example.org"]')
  return []
}
