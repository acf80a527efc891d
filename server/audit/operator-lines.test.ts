import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { newId } from '../basics/ids.ts'
import { readDatabaseUrl } from '../config/database-url.ts'
import { openStore } from '../open-store.ts'
import type { AuditEntry } from '../store/events.ts'
import { replaceOperation } from '../store/testing/operations.ts'
import { listAudit, record } from './audit.store.ts'
import { AuditLines } from './audit-lines.ts'
import { auditEntry } from './entry.ts'
import { writeOperatorLines } from './operator-lines.ts'

const operator = { actor: 'operator', address: null, userAgent: null, requestId: null }

test('an entry of a command has its line and its notice, also if the store can be read two minutes later only', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-lines-'))
  const { store } = await openStore(readDatabaseUrl(`sqlite:${join(folder, 'carillon.db')}`))
  t.after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  let now = Date.UTC(2026, 0, 1)
  const lines = new AuditLines({ info() {}, warn() {}, error() {} } as never)
  const written: string[] = []
  t.mock.method(lines, 'write', ({ id }: AuditEntry) => written.push(id))
  const { promise: started, resolve: start } = Promise.withResolvers<void>()
  const { promise: noted, resolve: finish } = Promise.withResolvers<AuditEntry>()
  const note = async (noticed: AuditEntry) => finish(noticed)
  let restore = replaceOperation(store, listAudit, async (_, run) => {
    const found = await run()
    start()
    return found
  })
  writeOperatorLines({ store, lines, now: () => now, note })
  await started
  restore()
  restore = replaceOperation(store, listAudit, async () => {
    // The service tries again.
    now += 120_000
    restore()
    throw new Error('the store cannot be read')
  })
  const entry = { ...auditEntry(operator, { event: 'user-disabled', at: now }), id: newId(now) }
  await store.write(record, [entry])
  assert.equal((await noted).id, entry.id)
  assert.deepEqual(written, [entry.id])
})
