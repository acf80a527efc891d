// Starts a PostgreSQL server for one scenario, with durable settings.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PostgresServer } from '../../tests/support/postgres.ts'
import { processorUsOf } from '../processes/of-process.ts'
import { coreArguments, type Role } from '../report/machine.ts'
import type { Bench } from '../report/scenario.ts'

/** Settings beyond PostgreSQL's defaults. Those that decide durability keep the default. */
const settings = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  shared_buffers: '512MB',
  max_wal_size: '4GB',
  max_connections: '100',
}

/** `processorUs`: the processor time in microseconds that all its processes have used so far. */
export type Database = { url: string; processorUs(): number }

/** An empty database. `role` says which core the server runs on. */
export async function startDatabase(bench: Bench, role: Role): Promise<Database> {
  bench.progress('starting a PostgreSQL')
  const server = await PostgresServer.start({ settings, under: coreArguments(role) })
  bench.onEnd(() => server.remove())
  const pid = Number(readFileSync(join(server.data, 'postmaster.pid'), 'utf8').split('\n')[0])
  await server.query('create database bench')
  return { url: server.url('bench'), processorUs: () => processorUsOf(pid) }
}
