// `carillon audit` beside a service that runs: what commands and requests do, in the table, and in the log of the service.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  CarillonProcess,
  carillon,
  Folder,
  firstSignInOf,
} from '../../support/processes/carillon-process.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { UserOfService } from '../../support/processes/user-of-service.ts'

const folder = new Folder()
const running = await CarillonProcess.ready(folder)
const operator = new UserOfService(running.url, firstSignInOf(folder))
after(async () => {
  operator.close()
  await running[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

type Entry = {
  id: string
  event: string
  actor: string
  userId: string | null
  detail: Record<string, string> | null
}

async function run(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await carillon(folder, args)
  assert.deepEqual([status, stderr], [0, ''])
  return stdout
}

test('a command is one row, which names the user of the operating system, and one line in the log of the service (A16)', async () => {
  const { id } = JSON.parse(await run('user', 'add', 'ann', '--json'))
  await run('user', 'disable', 'ann')
  const entries: Entry[] = JSON.parse(await run('audit', '--user', 'ann', '--json'))
  assert.deepEqual(
    entries.map(({ event, actor, userId }) => [event, actor, userId]),
    [
      ['user-created', 'operator', id],
      ['user-disabled', 'operator', id],
    ],
  )
  for (const { detail } of entries) assert.match(detail?.by ?? '', /^\S+$/)
  const [last] = entries.slice(-1)
  await untilSo(async () => running.lines.some(({ auditId }) => auditId === last?.id))
  const lines = running.lines.filter(({ userId }) => userId === id)
  assert.deepEqual(
    lines.map(({ event, auditId, actor }) => [event, auditId, actor]),
    entries.map((entry) => [entry.event, entry.id, 'operator']),
  )
})

test('the table is for people (A16)', async () => {
  await operator.signIn('stateful')
  await run('user', 'add', 'ben')
  const table = await run('audit', '--since', '1h')
  assert.match(table, /^time +event +user +by +address +details\n/)
  assert.match(table, /sign-in +operator +user +127\.0\.0\.1 /)
  assert.match(
    await run('audit', '--since', '2020-01-01', '--user', 'ben'),
    /user-created +ben +operator/,
  )
})
