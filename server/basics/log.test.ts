import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

/** In a child process, because the log is written to stdout. */
function printed(isTerminal: boolean): string {
  const program = `
    import { createLog } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)}
    const log = await createLog({ level: 'info', isTerminal: ${isTerminal} })
    const forged = 'x\\n[12:00:00] INFO: forged\\r\\u001b[2A\\u007f\\u009b2A\\u2028\\u2029\\u202e'
    log.error({ event: 'failure', err: new Error(forged, { cause: new Error(forged) }) }, 'failed')
    log.info({ event: 'sign-in', userAgent: forged, username: forged, password: 'plum orchard' }, 'sign-in')`
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module-typescript', '--eval', program],
    {
      encoding: 'utf8',
    },
  )
  assert.equal(stderr, '')
  return stdout
}

test('on a terminal, a text in an error or a field cannot start a new line or move the cursor', () => {
  const text = printed(true)
  assert.match(text, /forged/)
  // pino's own lines begin with the present time, in colour.
  for (const line of text.split('\n'))
    if (line.includes('forged')) assert.doesNotMatch(line, /^\[12:00:00\]|^INFO/, line)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: pino-pretty itself adds these
  const colour = /\u001b\[\d+m/g
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for these characters
  const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202e]/
  assert.doesNotMatch(text.replace(colour, ''), control)
})

test('a line of a request with a trace has its id, and other lines have none', () => {
  const program = `
    import { createLog } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)}
    import { noteTrace } from ${JSON.stringify(new URL('./traces.ts', import.meta.url).href)}
    const log = await createLog({ level: 'info', isTerminal: false })
    noteTrace('a-1', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01')
    for (const requestId of ['a-1', 'a-2', undefined]) log.info({ event: 'sign-in', requestId })`
  const { stdout } = spawnSync(
    process.execPath,
    ['--input-type=module-typescript', '--eval', program],
    {
      encoding: 'utf8',
    },
  )
  const lines = stdout.trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).trace_id),
    ['4bf92f3577b34da6a3ce929d0e0e4736', undefined, undefined],
  )
})

test('in a file or a pipe, no control character or line separator of a client is in the log as it is (L8)', () => {
  const text = printed(false)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for these characters
  assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202e]/)
  const { userAgent } = JSON.parse(text.split('\n')[1] ?? '')
  assert.ok(userAgent.endsWith('\u007f\u009b2A\u2028\u2029\u202e'), JSON.stringify(userAgent))
})

test('in a file or a pipe, each line of the log is one JSON object and contains no password', () => {
  const lines = printed(false).trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).event),
    ['failure', 'sign-in'],
  )
  assert.ok(!lines.join('').includes('plum orchard'))
})
