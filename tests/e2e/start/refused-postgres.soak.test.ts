// A start on a PostgreSQL that cannot be used: one sentence on stderr, exit status 1, nothing on stdout. The sentence for each
// cause is tested in server/store/postgres/connection/opening.test.ts.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { freePort } from '../../support/network/free-port.ts'
import { guarded, newDatabase } from '../../support/postgres.ts'
import {
  CarillonProcess,
  carillon,
  type Environment,
  Folder,
} from '../../support/processes/carillon-process.ts'

const secret = 'hunter2hunter2'
const bare = await newDatabase({ isBare: true })
after(() => bare.drop())

const at = (changes: Partial<URL>) => Object.assign(new URL(bare.url), changes).href
const starts: [string, Environment, RegExp][] = [
  [
    'a wrong password',
    { CARILLON_DATABASE_URL: at({ username: guarded.role, password: secret }) },
    /refuses the password/,
  ],
  ['no secret', { CARILLON_DATABASE_URL: bare.url }, /Set CARILLON_SECRET/],
]

for (const [what, env, sentence] of starts)
  test(`${what}: one sentence, exit status 1, soon`, async () => {
    using folder = new Folder()
    const sealed = what === 'no secret' ? {} : { CARILLON_SECRET: 'x'.repeat(43) }
    const startedAt = performance.now()
    const { status, stdout, stderr } = await carillon(folder, ['serve'], {
      env: { ...env, ...sealed },
    })
    assert.equal(status, 1, stderr)
    assert.match(stderr, sentence)
    assert.match(stderr, /^carillon: [^\n]+\n$/)
    assert.ok(performance.now() - startedAt < 60_000, 'it said so and did not end')
    assert.doesNotMatch(stderr + stdout, new RegExp(`${secret}|${guarded.password}`))
    assert.doesNotMatch(stdout, /"level":(40|50|60)/)
  })

test('a wrong address: the log says at once that the service waits; after 30 s it prints one sentence and exits with status 1', async () => {
  using folder = new Folder()
  const url = new URL(at({ port: String(await freePort()) }))
  url.password = secret
  const env = { CARILLON_DATABASE_URL: url.href, CARILLON_SECRET: 'x'.repeat(43) }
  const startedAt = performance.now()
  await using process = new CarillonProcess(folder, { args: ['serve'], env })
  assert.equal((await process.ended).status, 1)
  const [waiting] = process.lines
  assert.equal(waiting?.msg, 'waiting for the database, at most 30 s')
  assert.match(String(waiting?.reason), /^No server responds at the address/)
  assert.ok(performance.now() - startedAt > 25_000, 'it gave up early')
  assert.match(process.stderr, /^carillon: No server responds at the address[^\n]+\n$/)
  assert.doesNotMatch(process.stderr + process.stdout, new RegExp(secret))
})
