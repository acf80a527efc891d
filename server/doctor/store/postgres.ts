// What is wrong with a PostgreSQL server, its database and this role's rights in it? Writes nothing.
import type pg from 'pg'
import { knownMigrations } from '../../store/migrations.ts'
import { openingFailure, refuseOld } from '../../store/postgres/connection/opening.ts'
import { connectionsOfProcess, openPool } from '../../store/postgres/connection/pool.ts'
import { connectionsGiven, poolerName, poolingOf, poolingRemedy } from '../../store/postgres/connection/pooler.ts'
import { knownFunctions, needsFunctions } from '../../store/postgres/schema/functions.ts'
import { appliedMigrations } from '../../store/postgres/schema/migrate.ts'
import { type Finding, fault, faultOf, ok, warning } from '../finding.ts'
import { clockFinding } from '../machine.ts'
import { type Examination, type Examined, examineContent, schemaFinding, unread } from './findings.ts'

const migrations = new URL('../../store/postgres/schema/', import.meta.url)
const functions = new URL('../../store/postgres/functions/', import.meta.url)
/** For one more process: ten of its pool, one that listens, and one for an operator. */
const wantedConnections = 12
const slowMs = 50

export async function examinePostgres(url: string, { now, deep = false }: Examination): Promise<Examined> {
  let pool: pg.Pool | undefined
  try {
    const opened = openPool(url)
    pool = opened
    const findings = [
      await version(pool),
      ...(await pooler(pool, url)),
      await clock(pool, now),
      ...(await ground(pool)),
      await rights(pool),
    ]
    const applied = await appliedMigrations(pool)
    const content = await examineContent(async (sql) => (await opened.query(sql)).rows, {
      schema: await schema(pool, applied),
      applied,
      now: now(),
      tables: 'select tablename as name from pg_tables where schemaname = current_schema()',
      header: "split_part(sealed_secret, '.', 1)",
    })
    findings.push(...content.findings, ...(deep ? await pages(pool) : []))
    return { ...content, findings }
  } catch (error) {
    return unread(faultOf('database', openingFailure(error), 'correct CARILLON_DATABASE_URL'))
  } finally {
    await pool?.end()
  }
}

async function version(pool: pg.Pool): Promise<Finding> {
  const { rows } = await pool.query("select current_setting('server_version') as version")
  await refuseOld(pool)
  return ok('PostgreSQL', String(rows[0].version))
}

/** Empty if there is no pooler. */
async function pooler(pool: pg.Pool, url: string): Promise<Finding[]> {
  const pooling = await poolingOf(pool)
  if (pooling === 'none') return []
  const name = await poolerName(url)
  const lends = { found: `${name} lends a connection for one transaction or statement`, change: poolingRemedy }
  if (pooling === 'transaction') return [fault('pooler', lends)]
  const given = await connectionsGiven(pool, url)
  const found = `${name} in session mode gives ${given} of the ${connectionsOfProcess} connections of a process`
  if (given === connectionsOfProcess) return [ok('pooler', found)]
  const change = `default_pool_size = ${connectionsOfProcess} in pgbouncer.ini, for each process of Carillon, and some for operators`
  return [fault('pooler', { found, change })]
}

async function clock(pool: pg.Pool, now: () => number): Promise<Finding> {
  const before = now()
  const { rows } = await pool.query('select extract(epoch from clock_timestamp())::float8 * 1000 as at')
  return clockFinding('clock', { whose: "the database's clock", aheadMs: rows[0].at - (before + now()) / 2 })
}

type Ground = Record<'replica' | 'readonly', boolean> &
  Record<'fsync' | 'commit' | 'encoding', string> &
  Record<'most' | 'taken', number>

/** The settings of the server that durability depends on, for this role in this database. */
async function ground(pool: pg.Pool): Promise<Finding[]> {
  const startedAt = performance.now()
  const { rows } = await pool.query(`
    select pg_is_in_recovery() as replica,
      current_setting('default_transaction_read_only')::boolean as readonly,
      current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as commit,
      current_setting('server_encoding') as encoding,
      current_setting('max_connections')::int as most,
      (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as taken`)
  const answeredMs = performance.now() - startedAt
  const findings = [...durable(rows[0]), connections(rows[0])]
  if (answeredMs <= slowMs) return findings
  const found = `a query takes ${Math.round(answeredMs)} ms, and every request waits for one or two`
  return [...findings, warning('distance', { found, change: 'run the service nearer to its database' })]
}

function durable({ replica, readonly, fsync, commit, encoding }: Ground): Finding[] {
  const findings: Finding[] = []
  const wrong = (found: string, change: string) => findings.push(fault('database', { found, change }))
  if (replica) wrong('it is a read-only replica', 'name the primary in CARILLON_DATABASE_URL')
  if (readonly && !replica)
    wrong('it accepts no writes from this role', 'alter role ROLE reset default_transaction_read_only;')
  if (encoding !== 'UTF8')
    wrong(`its encoding is ${encoding}`, 'createdb --encoding=UTF8 --template=template0 carillon')
  const lossy = 'acknowledged writes are lost if the machine loses power'
  if (fsync !== 'on') findings.push(warning('disk', { found: `fsync is off: ${lossy}`, change: 'fsync = on' }))
  if (commit === 'off')
    findings.push(warning('disk', { found: `synchronous_commit is off: ${lossy}`, change: 'synchronous_commit = on' }))
  return findings
}

function connections({ most, taken }: Ground): Finding {
  const found = `${taken} of ${most} connections are taken`
  if (most - taken >= wantedConnections) return ok('connections', found)
  return warning('connections', { found, change: 'max_connections = 100 in postgresql.conf, or fewer processes' })
}

/** PostgreSQL detects a damaged page by its checksum when it reads the page; its own tools read all pages. */
async function pages(pool: pg.Pool): Promise<Finding[]> {
  const { rows } = await pool.query(`
    select current_setting('data_checksums') as checksums, current_database() as name, checksum_failures::int as failures
    from pg_stat_database where datname = current_database()`)
  const { checksums, name, failures } = rows[0]
  const amcheck = `pg_amcheck --install-missing --heapallindexed --database=${name}`
  if (checksums !== 'on') {
    const found =
      'data checksums are off, so damaged pages are not detected; doctor does not read the pages of PostgreSQL'
    return [
      warning('pages', { found, change: `pg_checksums --enable, while PostgreSQL is stopped; until then: ${amcheck}` }),
    ]
  }
  if (failures > 0) {
    const found = `PostgreSQL has read ${failures} damaged ${failures === 1 ? 'page' : 'pages'} of this database`
    return [fault('pages', { found, change: `restore the backup; to find what is damaged: ${amcheck}` })]
  }
  return [ok('pages', `data checksums are on and found no damage so far; to read every page: ${amcheck}`)]
}

async function rights(pool: pg.Pool): Promise<Finding> {
  const { rows } = await pool.query(`
    select current_user as role, rolsuper as super,
      coalesce(has_schema_privilege(current_schema(), 'create'), false) as creates
    from pg_roles where rolname = current_user`)
  const { role, super: isSuper, creates } = rows[0]
  if (isSuper)
    return warning('rights', {
      found: `${role} is a superuser, with more rights than Carillon needs`,
      change: 'create role carillon login password ...; alter database ... owner to carillon;',
    })
  if (creates) return ok('rights', `${role} may create tables`)
  const change = `grant create on schema public to ${role};`
  return fault('rights', { found: `${role} may not create tables`, change })
}

async function schema(pool: pg.Pool, applied: string[]): Promise<Finding> {
  const finding = schemaFinding({ applied, known: knownMigrations(migrations) })
  const known = knownFunctions(functions)
  if (finding.state !== 'ok' || known === undefined || !(await needsFunctions(pool, known))) return finding
  return warning('schema', { found: 'its functions are of an older Carillon', change: 'npx carillon migrate' })
}
