// A new version with a migration of the largest table starts while two nodes serve: it gets its
// locks between the requests, and no request fails. The test invents the migration.
import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { queryAt } from '../../support/postgres.ts'
import { Folder } from '../../support/processes/carillon-process.ts'
import { copyOfProgram, migrationFiles } from '../../support/processes/copy-of-program.ts'
import { Nodes } from '../../support/processes/nodes.ts'
import type { UserOfService } from '../../support/processes/user-of-service.ts'
import type { Proof } from '../../support/service.ts'

const notifications = process.env.SOAK === undefined ? 60_000 : 300_000
const everyMs = 50
const readyWithinMs = 60_000

const invented = `-- locks: notification, inbox
create index concurrently notification_by_update on notification (user_id, updated_at, seq);
alter table notification add column invented text;
alter table inbox add column invented bigint not null default 0;
`

test(`a new node migrates ${notifications} notifications within a minute while two nodes list and deliver: 0 failed requests (R14)`, async (t) => {
  let tries = 1
  while (!(await goesUnnoticed(t, { isLast: tries === 3 }))) tries++
})

/** Returns false if the machine paused, so that a request failed or the node was late. */
async function goesUnnoticed(t: TestContext, { isLast }: { isLast: boolean }): Promise<boolean> {
  using program = new Folder()
  await using nodes = await Nodes.on('PostgreSQL')
  const all = [await nodes.add(), await nodes.add()]
  await fill(nodes.databaseUrl)
  await using load = new Load()
  for (const node of all) await load.startOn(node.user(nodes.firstSignIn))
  await load.more(20)

  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const begun = performance.now()
  await nodes.add({
    launcher: copyOfProgram(program, { files: migrationFiles('postgres', invented) }),
  })
  const readyMs = performance.now() - begun
  await load.more(20)
  if (delay.max > 250e6 && (load.failures.length > 0 || readyMs > readyWithinMs) && !isLast)
    return false
  t.diagnostic(`ready after ${readyMs.toFixed(0)} ms, ${load.count} requests`)
  assert.deepEqual(load.failures, [])
  assert.ok(readyMs < readyWithinMs, `ready after ${readyMs} ms`)
  const { rows } = await queryAt(
    nodes.databaseUrl,
    `select count(*)::int as indexes from pg_inherits join pg_index on indexrelid = inhrelid
      where inhparent = 'notification_by_update'::regclass and indisvalid`,
  )
  assert.equal(rows[0].indexes, 3, 'one index for each partition')
  return true
}

async function fill(url: string): Promise<void> {
  await queryAt(
    url,
    `insert into notification (user_id, seq, id, version, title, created_at)
      select 'user ' || n, seq, n || ' ' || seq, seq, 'Number', '2026-11-23T00:00:00.000Z'
      from generate_series(1, ${notifications / 100}) n, generate_series(1, 100) seq`,
  )
}

/** Sends a list and a delivery to each of its nodes twenty times a second until it is stopped. */
class Load implements AsyncDisposable {
  readonly failures: string[] = []
  count = 0
  readonly #loops: Promise<void>[] = []
  #isOver = false

  async startOn(user: UserOfService): Promise<void> {
    const headers: Proof = await user.signIn()
    const kinds = [
      () => user.request({ path: '/api/notifications', headers }),
      () => user.deliver('Steady'),
    ]
    for (const send of kinds) this.#loops.push(this.#repeat(send))
  }

  async more(count: number): Promise<void> {
    for (const until = this.count + count; this.count < until; ) await sleep(10)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#loops)
  }

  async #repeat(send: () => Promise<{ status: number; text: string }>): Promise<void> {
    const running = new Set<Promise<void>>()
    while (!this.#isOver) {
      const one = send()
        .then(
          ({ status, text }) => void (status >= 300 && this.failures.push(`${status} ${text}`)),
          (error: unknown) => void this.failures.push(String(error)),
        )
        .finally(() => {
          this.count++
          running.delete(one)
        })
      running.add(one)
      await sleep(everyMs)
    }
    await Promise.all(running)
  }
}
