// What reaches the log is what was logged: nothing that a client sent can look like another line of it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

/** What `createLog` prints for an error and a sign-in; a process of its own, since it writes to stdout. */
function printed(isTerminal: boolean): string {
  const program = `
    import { createLog } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)}
    const log = await createLog({ level: 'info', isTerminal: ${isTerminal} })
    const forged = 'x\\n[12:00:00] INFO: forged\\r\\u001b[2A\\u009b2A\\u202e'
    log.error({ event: 'failure', err: new Error(forged, { cause: new Error(forged) }) }, 'failed')
    log.info({ event: 'sign-in', username: forged.slice(0, -5), password: 'plum orchard' }, 'sign-in')`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module-typescript', '--eval', program], {
    encoding: 'utf8',
  })
  assert.equal(stderr, '')
  return stdout
}

test('no text of an error or a field begins a line on a terminal, or moves its cursor', () => {
  const text = printed(true)
  assert.match(text, /forged/)
  for (const line of text.split('\n')) if (line.includes('forged')) assert.match(line, /^ /, line)
  // The colours are pino-pretty's own.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  assert.doesNotMatch(text.replace(/\u001b\[\d+m/g, ''), /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/)
})

test('each line elsewhere is one object of JSON, and nothing secret is in it', () => {
  const lines = printed(false).trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).event),
    ['failure', 'sign-in'],
  )
  assert.ok(!lines.join('').includes('plum orchard'))
})
