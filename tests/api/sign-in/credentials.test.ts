// Neither the response nor its duration shows what was wrong.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import { usualCost } from '../../../server/passwords/passwords.ts'
import { disableUser } from '../../../server/users/access/user-changes.store.ts'
import { type HttpResponse, startTestService } from '../../support/service.ts'

const app = await startTestService({ hashCost: usualCost })
after(() => app.stop())
const ann = await app.user('ann')
const bob = await app.user('bob')
await app.store.write(disableUser, { userId: bob.id, at: app.now() })

const wrong = 'plum orchard gate 42'
const refused = {
  'unknown user': { username: 'nobody', password: wrong },
  'wrong password': { username: ann.username, password: wrong },
  'disabled user, right password': { username: bob.username, password: bob.password },
  'disabled user, wrong password': { username: bob.username, password: wrong },
  'a name that no user can have': { username: 'a b\u202e', password: wrong },
}

test('A1: unknown user, wrong password and disabled user get the same response, byte for byte', async () => {
  const before = await stored()
  const responses: ReturnType<typeof seen>[] = []
  for (const body of Object.values(refused))
    responses.push(seen(await app.post('/login', { ...body, variant: 'stateless' })))
  const [first, ...others] = responses
  assert.equal(first?.status, 401)
  assert.match(first?.body ?? '', /"code":"INVALID_CREDENTIALS"/)
  assert.equal(first?.headers['www-authenticate'], 'Bearer')
  for (const [index, other] of others.entries())
    assert.deepEqual(other, first, `${Object.keys(refused)[index + 1]}`)
  assert.deepEqual(await stored(), before)
})

test('A1: the right password is accepted, also with another spelling of the username', async () => {
  for (const username of ['ann', 'ANN', 'ａｎｎ']) {
    const response = await app.post('/login', { username, password: ann.password })
    assert.equal(response.status, 200)
    assert.equal(response.json().User.id, ann.id)
  }
})

test('A2: an unknown user, a disabled user and a valid sign-in all cost one hash', async (t) => {
  const isSoak = process.env.SOAK !== undefined
  const costs: Record<string, number[]> = Object.fromEntries(
    Object.keys(refused).map((name) => [name, []]),
  )
  const times: typeof costs = structuredClone(costs)
  // Alternating, so that other load on this machine affects all of them equally.
  for (let n = 0; n < (isSoak ? 400 : 10); n++) {
    forgetGuesses()
    for (const [name, body] of Object.entries(refused)) {
      // Of all threads of the process; other programs do not count.
      const before = process.cpuUsage()
      times[name]?.push(await millisecondsOf(body))
      const { user, system } = process.cpuUsage(before)
      costs[name]?.push((user + system) / 1_000)
    }
  }
  const cost = median(costs['wrong password'] ?? [])
  const friend = times['wrong password'] ?? []
  for (const [name, of] of Object.entries(costs)) {
    const ratio = median(of) / cost
    const area = auc(times[name] ?? [], friend)
    // Of ten samples an AUC says nothing.
    const ofTimes = isSoak ? `, AUC of the time ${area.toFixed(3)}` : ''
    t.diagnostic(`${name}: median ${median(of).toFixed(1)} ms of processor time${ofTimes}`)
    // Without a hash a response costs at most a fifth; with two hashes nearly twice as much.
    assert.ok(
      ratio > 0.6 && ratio < 1.6,
      `${name}: ${ratio.toFixed(2)} of the cost of a wrong password`,
    )
    // With 400 of each the AUC of equal times is within 0.04 of one half.
    if (isSoak) assert.ok(Math.abs(area - 0.5) <= 0.05, `${name}: AUC ${area.toFixed(3)}`)
  }
})

test('A5: an over-long password is refused before it is hashed, also one of 1 MiB', async (t) => {
  const hashing = await fastestOf(20, () => {
    forgetGuesses()
    return millisecondsOf(refused['wrong password'])
  })
  for (const [length, status, most] of [
    [257, 400, hashing * 0.6],
    [4_000, 400, hashing * 0.6],
    [20_000, 413, hashing],
    [1024 * 1024, 413, hashing],
  ] as const) {
    const body = { username: ann.username, password: 'x'.repeat(length) }
    const took = await fastestOf(20, () => millisecondsOf(body, status))
    t.diagnostic(
      `${length} characters: ${took.toFixed(1)} ms; with a hash: ${hashing.toFixed(1)} ms`,
    )
    assert.ok(took < most, `${length} characters took ${took} ms, of ${most}`)
  }
})

test('A5: a password of 256 characters signs in and is not truncated: without its last character it is refused', async () => {
  const digits = ['one', 'two']
    .map((text) => createHash('sha512').update(text).digest('hex'))
    .join('')
  // Both have 256 code points; the cat is two UTF-16 units.
  for (const password of [digits, `🐈${digits.slice(1)}`]) {
    const { username } = await app.user(undefined, password)
    assert.equal([...password].length, 256)
    assert.equal((await app.post('/login', { username, password })).status, 200)
    assert.equal(
      (await app.post('/login', { username, password: password.slice(0, -1) })).status,
      401,
    )
    assert.equal((await app.post('/login', { username, password: `${password}1` })).status, 400)
  }
})

/** A refused sign-in changes counts of guesses and the audit log. */
const stored = async () => ({ ...(await app.database.tables()), guess_count: [], audit: [] })

/** A failure is forgotten after a day. */
const forgetGuesses = () => app.pass(24 * 3_600_000)

/** Without the two fields that differ in every response. */
function seen({ status, headers, text }: HttpResponse) {
  const { requestId } = JSON.parse(text).error
  const {
    date: _,
    'content-length': length,
    ...fields
  } = Object.fromEntries(headers) as Record<string, string>
  return {
    status,
    headers: fields,
    body: text.replace(requestId, ''),
    length: Number(length) - requestId.length,
  }
}

async function millisecondsOf(body: object, status = 401): Promise<number> {
  const before = performance.now()
  assert.equal((await app.post('/login', body)).status, status)
  return performance.now() - before
}

async function fastestOf(times: number, measure: () => Promise<number>): Promise<number> {
  let fastest = Number.POSITIVE_INFINITY
  for (let n = 0; n < times; n++) fastest = Math.min(fastest, await measure())
  return fastest
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** The share of pairs in which `a` is larger: 0.5 if the two cannot be distinguished. */
function auc(a: readonly number[], b: readonly number[]): number {
  const wins = a.flatMap((x) => b.map((y) => (Math.sign(x - y) + 1) / 2))
  return wins.reduce<number>((sum, win) => sum + win, 0) / wins.length
}
