// Starts a PostgreSQL server for one scenario, with durable settings, and services on it. If the service has a core of its own,
// PostgreSQL shares the core of the load.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PostgresServer } from '../../tests/support/postgres.ts'
import { processorUsOf } from '../processes/of-process.ts'
import { coreArguments, describeSync, type Role, syncCost } from '../report/machine.ts'
import type { Bench } from '../report/scenario.ts'
import { modulesOf } from './checkout.ts'
import { type Service, type ServiceOptions, startService } from './service.ts'

/** Settings beyond PostgreSQL's defaults. Those that decide durability keep the default. */
const settings = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  shared_buffers: '512MB',
  max_wal_size: '4GB',
  max_connections: '100',
}

export const settingsNote =
  `A PostgreSQL of the scenario's own, from npm, through TCP on this machine: ` +
  `${Object.entries(settings)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')}, 8 partitions; else its own defaults.`

export type Database = {
  url: string
  version: string
  /** The least cost of a commit, on the disk of the data. */
  sync: string
  /** Processor time in microseconds that all its processes have used so far. */
  processorUs(): number
  query(sql: string): Promise<{ rows: Record<string, unknown>[] }>
  /** An empty database without a schema on the same server. */
  another(name: string): Promise<Database>
}

/** An empty database with Carillon's schema. `role` says which core the server runs on. */
export async function startDatabase(bench: Bench, role: Role): Promise<Database> {
  bench.progress('starting a PostgreSQL')
  const server = await PostgresServer.start({ settings, under: coreArguments(role) })
  bench.using({ stop: () => server.remove() })
  const sync = describeSync(syncCost(dirname(server.data)))
  const pid = Number(readFileSync(join(server.data, 'postmaster.pid'), 'utf8').split('\n')[0])
  const { rows } = await server.query('show server_version')
  const create = async (name: string): Promise<Database> => {
    await server.query(`create database ${name}`)
    return {
      url: server.url(name),
      version: String(rows[0].server_version),
      sync,
      processorUs: () => processorUsOf(pid),
      query: (sql) => server.query(sql, name),
      another: create,
    }
  }
  const database = await create('bench')
  const { openStore, readDatabaseUrl } = await modulesOf(bench.checkout)
  const { store } = await openStore(readDatabaseUrl(database.url))
  await store.close()
  return database
}

export function startServiceOn(database: Database, options: ServiceOptions): Promise<Service> {
  return startService({ ...options, env: { ...options.env, CARILLON_DATABASE_URL: database.url } })
}
