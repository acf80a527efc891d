// An imitation of what React Native lacks: the client polls.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startTestService } from '../tests/support/service.ts'

const app = await startTestService()
after(() => app.stop())

type Line = { state?: string; unread?: number; titles?: string[]; error?: string; thrown?: string }

function telephone(token: string) {
  const child = fork(new URL('./testing/telephone.ts', import.meta.url), [app.url, token], {
    stdio: 'pipe',
  })
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (text) => (stdout += text))
  child.stderr?.on('data', (text) => (stderr += text))
  const gone = once(child, 'exit')
  const until = async (holds: (line: Line) => boolean) => {
    const lines = () =>
      stdout
        .split('\n')
        .slice(0, -1)
        .map((line): Line => JSON.parse(line))
    for (;;) {
      const found = lines().find(holds)
      if (found) return found
      if (child.exitCode !== null) assert.fail(`${stdout}${stderr}`)
      await sleep(10)
    }
  }
  const close = async () => {
    child.send('close')
    const [status] = await gone
    assert.deepEqual([status, stderr], [0, ''])
  }
  return { child, until, close }
}

test('without streams and reasons an open list is live all the same, by held requests, and acts reach the service', async () => {
  const ann = await app.user('ann')
  const token = (await app.issueToken(ann)).authorization?.slice('Bearer '.length) ?? ''
  await app.deliver({ to: ann, title: 'Before' })
  const { child, until, close } = telephone(token)
  await until(({ state, titles }) => state === 'live' && titles?.join() === 'Before')
  await app.deliver({ to: ann, title: 'After' })
  await until(({ state, titles }) => state === 'live' && titles?.join() === 'After,Before')
  child.send('readAll')
  await until(({ unread }) => unread === 0)
  child.send('abort')
  assert.equal((await until(({ thrown }) => thrown !== undefined)).thrown, 'AbortError')
  await close()
})
