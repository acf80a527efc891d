// A reader has to follow the files that a warm request executes
// (docs/decisions/0019-rooms-by-subject.md). CARILLON_PRINT_FILES=1 prints them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Profiler } from 'node:inspector'
import { Session } from 'node:inspector/promises'
import { after, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const ann = await app.user('ann')

const main = new Session()
main.connect()
const attached = once(main, 'NodeWorker.attachedToWorker')
await main.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
const [{ params: writer }] = await attached

type Taken = { result: Profiler.ScriptCoverage[] }

type Method = 'Profiler.takePreciseCoverage'

async function postToWriter(method: Method, params = {}): Promise<Taken> {
  const message = JSON.stringify({ id: 1, method, params })
  const replied = once(main, 'NodeWorker.receivedMessageFromWorker')
  await main.post('NodeWorker.sendMessageToWorker', { sessionId: writer.sessionId, message })
  const [reply] = await replied
  return JSON.parse(reply.params.message).result
}

const postToMain = (method: Method, params = {}) =>
  main.post(method, params as never) as unknown as Promise<Taken>
for (const post of [postToMain, postToWriter]) {
  await post('Profiler.enable' as Method)
  await post('Profiler.startPreciseCoverage' as Method, { callCount: true, detailed: false })
}

const hasRun = ({ functions }: Profiler.ScriptCoverage) =>
  functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
/** Tests of the same process may watch what they measured. */
const fileOf = ({ url }: Profiler.ScriptCoverage) =>
  /\/(server\/(?!.*(?:\/testing\/|\.test\.ts)).*\.ts)$/.exec(url)?.[1] ?? []

const take = 'Profiler.takePreciseCoverage'

/** Timers that become due meanwhile run before the second, quick take. */
async function forgetFiles(): Promise<void> {
  await takeFiles()
  await turn()
  await postToWriter(take)
  await postToMain(take)
}

/** Taken at once, before a timer of the main thread can run. */
async function takeFiles(): Promise<Set<string>> {
  const taken = [await postToMain(take), await postToWriter(take)]
  const scripts = taken.flatMap(({ result }) => result)
  return new Set(scripts.filter(hasRun).flatMap(fileOf))
}

type Prepare = () => Promise<() => Promise<{ status: number }>>

/**
 * What each of eight requests executes: a timer may run beside some. On a busy machine the test
 * sends up to a hundred.
 */
async function filesOf(prepare: Prepare, most: number): Promise<string[]> {
  let files: Set<string> | undefined
  for (let n = 0; n < 10 || (n < 100 && (files?.size ?? 0) > most); n++) {
    const send = await prepare()
    await forgetFiles()
    const { status } = await send()
    assert.ok(status < 300, `${status}`)
    const taken = await takeFiles()
    if (n >= 2) files = files?.intersection(taken) ?? taken
  }
  return [...(files ?? [])].sort()
}

const proof = await app.signIn(ann, 'stateful')
const { key } = await app.producerKey()
const { username, password } = ann

/** A user may sign in 60 times at once, and then once in this time. */
const betweenSignInsMs = 10_000

const requests: Record<string, { most: number; prepare: Prepare }> = {
  'mark as read': {
    most: 21,
    async prepare() {
      const [id] = await app.deliver({ to: ann, title: 'Paid', category: 'billing' })
      await app.get('/api/notifications', proof)
      return () => app.patch(`/api/notifications/${id}/read`, proof)
    },
  },
  'a sign-in': {
    most: 39,
    async prepare() {
      app.pass(betweenSignInsMs)
      return () => app.post('/login', { username, password })
    },
  },
  'a delivery': {
    most: 31,
    prepare: async () => () =>
      app.post(
        '/api/notifications',
        { recipients: [{ username }], title: 'Paid' },
        { authorization: `Bearer ${key}` },
      ),
  },
}

for (const [name, { most, prepare }] of Object.entries(requests))
  test(`${name} executes at most ${most} product files`, async () => {
    const files = await filesOf(prepare, most)
    if (process.env.CARILLON_PRINT_FILES === '1')
      process.stdout.write(`${name}: ${files.length}\n${files.join('\n')}\n`)
    assert.ok(files.length <= most, `${files.length}:\n${files.join('\n')}`)
  })
