// Stands in for curl with the options that the documentation uses, and writes the status to stderr.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).flatMap(configured),
  allowPositionals: true,
  options: {
    silent: { type: 'boolean', short: 's' },
    include: { type: 'boolean', short: 'i' },
    request: { type: 'string', short: 'X' },
    header: { type: 'string', short: 'H', multiple: true },
    data: { type: 'string', short: 'd', multiple: true },
    cookie: { type: 'string', short: 'b' },
    'cookie-jar': { type: 'string', short: 'c' },
    output: { type: 'string', short: 'o' },
    'dump-header': { type: 'string', short: 'D' },
    'no-buffer': { type: 'boolean', short: 'N' },
    'max-time': { type: 'string', short: 'm' },
  },
})

const headers = new Headers(
  (values.header ?? []).flatMap(read).map((line) => {
    const [, name = '', value = ''] = /^([^:]+): *(.*)$/.exec(line) ?? []
    return [name, value] as [string, string]
  }),
)
if (values.cookie) headers.set('cookie', readFileSync(values.cookie, 'utf8'))
const body = values.data?.map((data) => read(data).join('')).join('&')
if (body !== undefined && !headers.has('content-type'))
  headers.set('content-type', 'application/x-www-form-urlencoded')
const method = values.request ?? (body === undefined ? 'GET' : 'POST')

const signal = AbortSignal.timeout(Number(values['max-time'] ?? 60) * 1_000)
const response = await fetch(positionals[0] ?? '', {
  method,
  headers,
  signal,
  ...(body !== undefined && { body }),
})
const fields = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`)
if (values.include) write('-', `HTTP/1.1 ${response.status}\r\n${fields.join('')}\r\n`)
if (values['dump-header'])
  write(values['dump-header'], `HTTP/1.1 ${response.status}\r\n${fields.join('')}\r\n`)
if (values['cookie-jar']) {
  const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0])
  writeFileSync(values['cookie-jar'], cookies.join('; '))
}
write(values.output ?? '-', await textUntil(signal))
process.stderr.write(`${response.status}\n`)

/** The whole body, or what arrived in time. */
async function textUntil(end: AbortSignal): Promise<string> {
  let text = ''
  try {
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? [])
      text += piece
  } catch (error) {
    if (!end.aborted) throw error
  }
  return text
}

/** The argument `-` (of `-K`) stands for lines such as `header = "a: b"` of the standard input. */
function configured(argument: string): string[] {
  if (argument === '-K') return []
  if (argument !== '-') return [argument]
  return read('@-').flatMap((line) => {
    const [, name = '', value = ''] = /^(\w+) = (.*)$/.exec(line) ?? []
    const text = value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value
    return name === 'url' ? [text] : [`--${name}`, text]
  })
}

/** A text that starts with `@` names a file with the lines. */
function read(argument: string): string[] {
  if (!argument.startsWith('@')) return [argument]
  const text = readFileSync(argument === '@-' ? 0 : argument.slice(1), 'utf8')
  return text.split('\n').filter((line) => line !== '')
}

function write(file: string, text: string): void {
  if (file === '-') process.stdout.write(text)
  else writeFileSync(file, text)
}
