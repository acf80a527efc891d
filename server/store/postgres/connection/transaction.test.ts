import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { newDatabase, queryAt } from '../../../../tests/support/postgres.ts'
import { at, isUnavailable, newId, type Person, World } from '../../../contract/world.ts'
import {
  addChallenge,
  addFactor,
  factorsOf,
  type NewFactor,
  useFactor,
} from '../../../factors/factors.store.ts'
import { openPostgresStore } from '../store.ts'

const { url, drop } = await newDatabase()
const { store } = await openPostgresStore(url, { partitions: 3 })
after(async () => {
  await store.close()
  await drop()
})
const world = await World.on(store)

const addPasskey = (user: Person, more: Partial<NewFactor> = {}) =>
  store.write(addFactor, {
    userId: user.id,
    factor: {
      id: newId(),
      kind: 'passkey',
      label: 'Key',
      credentialId: newId(),
      createdAt: at(1),
      confirmedAt: at(1),
      ...more,
    },
    maxFactors: 9,
    recoveryCodeHashes: ['code'],
  })

async function connected(t: { after: (end: () => Promise<void>) => void }): Promise<pg.Client> {
  const client = new pg.Client(url)
  await client.connect()
  t.after(() => client.end())
  return client
}

async function untilFound(client: pg.Client, text: string): Promise<void> {
  // A transaction sees the activity of its first look.
  while ((await client.query(text)).rows.length === 0) {
    await nextTurn()
    await client.query('select pg_stat_clear_snapshot()')
  }
}

// Other files use the server at the same time.
const waiting = `from pg_stat_activity
  where wait_event_type = 'Lock' and application_name = 'carillon' and datname = current_database()`

test('a write whose connection is lost before the commit runs again, and takes effect once', async (t) => {
  const ann = await world.addUser('ann')
  const other = await connected(t)
  await other.query('begin')
  await other.query('select from "user" where id = $1 for update', [ann.id])
  const adding = addPasskey(ann)
  await untilFound(other, `select pg_terminate_backend(pid) ${waiting}`)
  await other.query('rollback')
  assert.equal(await adding, 'first')
  assert.equal((await store.read(factorsOf, ann.id)).factors.length, 1)
})

test('a write that the server chose to end a deadlock runs again', async (t) => {
  const ann = await world.addUser('deadlock')
  const other = await connected(t)
  await addPasskey(ann, { id: 'passkey of ann', signCount: 1 })
  const challenge = { userId: ann.id, hash: 'challenge' }
  await store.write(addChallenge, { ...challenge, purpose: 'p', data: '{}', expiresAt: at(9) })
  // The write waits longer until it looks for a deadlock, so the server ends the write and not the other transaction.
  await other.query("set deadlock_timeout = '1min'")
  await other.query('begin')
  // The write locks the challenge, and then the factor.
  await other.query("update factor set label = 'Other' where user_id = $1", [ann.id])
  const using = store.write(useFactor, {
    userId: ann.id,
    factorId: 'passkey of ann',
    at: at(2),
    signCount: 2,
    challenge,
  })
  await untilFound(other, `select 1 ${waiting}`)
  await other.query('select from challenge where user_id = $1 for update', [ann.id])
  await other.query('commit')
  assert.equal(await using, 'done')
})

test('a statement that fails takes back the whole write, and the next write has a connection that works', async () => {
  const ann = await world.addUser('refused')
  await queryAt(
    url,
    "alter table recovery_code add constraint no_bad_code check (code_hash <> 'bad')",
  )
  const { id, factor } = {
    id: ann.id,
    factor: { id: newId(), kind: 'totp', label: 'l', createdAt: 1 } as const,
  }
  const add = (code: string) =>
    store.write(addFactor, {
      userId: id,
      factor: { ...factor, confirmedAt: 1 },
      maxFactors: 9,
      recoveryCodeHashes: [code],
    })
  for (let n = 0; n < 20; n++) await assert.rejects(add('bad'), /no_bad_code/)
  assert.deepEqual(await store.read(factorsOf, id), { factors: [], recoveryCodesLeft: 0 })
  assert.equal(await add('good'), 'first')
})

test('if the connection is lost during the commit, the outcome is unknown, and the write does not run again', async (t) => {
  const ann = await world.addUser('unknown')
  const other = await connected(t)
  await other.query(`
    create function wait_at_commit() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock(77); return null; end $$;
    create constraint trigger wait_at_commit after insert on factor deferrable initially deferred
      for each row execute function wait_at_commit()`)
  await other.query('select pg_advisory_lock(77)')
  const adding = addPasskey(ann)
  const failed = assert.rejects(
    adding,
    (error: Error) => isUnavailable(error) && /outcome is unknown/.test(error.message),
  )
  await untilFound(other, `select pg_terminate_backend(pid) ${waiting} and query = 'commit'`)
  await failed
  await other.query('select pg_advisory_unlock(77); drop function wait_at_commit cascade')
  assert.deepEqual((await store.read(factorsOf, ann.id)).factors, [])
})

test('if a process stops in a transaction, the writes of other processes that wait for its locks go on', async (t) => {
  const ann = await world.addUser('stopped')
  const main = fileURLToPath(new URL('./testing/stuck-in-transaction.ts', import.meta.url))
  const stuck = spawn(process.execPath, [main, url, ann.id], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.after(() => stuck.kill('SIGKILL'))
  assert.deepEqual(await once(stuck, 'message'), ['locked', undefined])
  stuck.kill('SIGSTOP')
  assert.equal(await addPasskey(ann), 'first')
})
