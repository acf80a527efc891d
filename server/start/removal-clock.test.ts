import assert from 'node:assert/strict'
import { test } from 'node:test'
import { record } from '../audit/audit.store.ts'
import { auditEntry, serviceSource } from '../audit/entry.ts'
import { newestRowAt } from '../audit/time-seen.store.ts'
import { readDatabaseUrl } from '../config/database-url.ts'
import { openStore } from '../open-store.ts'
import { emptyPlace } from '../store/transfer/testing/filled.ts'
import { RemovalClock } from './removal-clock.ts'

const hour = 3_600_000
const day = 24 * hour
const start = Date.UTC(2026, 0, 1)

for (const engine of ['sqlite', 'postgres'] as const)
  test(`a clock that is far ahead removes nothing by age until an hour has passed, restarts included, on ${engine} (R16)`, async (t) => {
    const { store } = await openStore(readDatabaseUrl(await emptyPlace(t, engine)))
    t.after(() => store.close())
    await store.write(record, [auditEntry(serviceSource, { event: 'settings-changed', at: start })])
    const newestAt = await store.read(newestRowAt)
    let at = start + 400 * day
    const lines: { event: string }[] = []
    const log = { warn: (line: { event: string }) => lines.push(line) }
    const begin = () =>
      new RemovalClock({ store, wall: () => at, log, newestAt } as unknown as ConstructorParameters<
        typeof RemovalClock
      >[0])
    let clock = begin()
    assert.equal(await clock.now(), 0)
    at += hour / 2
    // A row with the wrong time makes the clock no more credible.
    await store.write(record, [auditEntry(serviceSource, { event: 'settings-changed', at })])
    clock = begin()
    assert.equal(await clock.now(), 0)
    assert.deepEqual(
      lines.map(({ event }) => event),
      ['clock-ahead', 'clock-ahead'],
    )
    const wrong = at
    at = start + hour
    assert.equal(await clock.now(), at, 'the clock was corrected')
    at = wrong
    assert.equal(await clock.now(), 0, 'another leap')
    at += hour - 1
    assert.equal(await clock.now(), 0)
    at += 1 + 60_000
    assert.equal(await clock.now(), at)
    at += 7 * day
    assert.equal(await clock.now(), at)
  })
