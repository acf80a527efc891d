// Examines PostgreSQL, the database and this role's rights, without writing.
import type pg from 'pg'
import { knownMigrations } from '../../store/migrations.ts'
import { listenerName } from '../../store/postgres/change-signals/listening-connection.ts'
import {
  openingFailure,
  poolingOf,
  poolingRemedy,
  refuseOld,
} from '../../store/postgres/connection/opening.ts'
import { connectionsOfProcess, openPool } from '../../store/postgres/connection/pool.ts'
import { knownFunctions, needsFunctions } from '../../store/postgres/schema/functions.ts'
import { appliedMigrations } from '../../store/postgres/schema/migrate.ts'
import { clockFinding, type Finding, fault, faultOf, ok, warning } from '../finding.ts'
import { type Depth, type Examined, examineContent, schemaFinding, unread } from './findings.ts'

export async function examinePostgres(
  url: string,
  now: () => number,
  depth: Depth = 'usual',
): Promise<Examined> {
  let opened: pg.Pool | undefined
  try {
    const pool = openPool(url, { max: connectionsOfProcess })
    opened = pool
    await refuseOld(pool)
    const facts = await factsOf(pool, now)
    const findings = [
      ok('PostgreSQL', facts.version),
      ...(await pooler(pool)),
      clockFinding('clock', { whose: "the database's clock", aheadMs: facts.aheadMs }),
      ...ground(facts),
      rights(facts),
      ...(await processes(pool)),
    ]
    const applied = await appliedMigrations(pool)
    const content = await examineContent(async (sql) => (await pool.query(sql)).rows, {
      schema: await schema(pool, applied),
      applied,
      now: now(),
      tables: 'select tablename as name from pg_tables where schemaname = current_schema()',
      header: "split_part(sealed_secret, '.', 1)",
      depth,
    })
    return { ...content, findings: [...findings, ...content.findings] }
  } catch (error) {
    return unread(faultOf('database', openingFailure(error), 'correct CARILLON_DATABASE_URL'))
  } finally {
    await opened?.end()
  }
}

async function pooler(pool: pg.Pool): Promise<Finding[]> {
  const pooling = await poolingOf(pool)
  if (pooling === 'none') return []
  if (pooling === 'transaction') {
    const found = 'it lends a connection for one transaction or statement'
    return [fault('pooler', { found, change: poolingRemedy })]
  }
  const lent = await lentAtOnce(pool)
  if (lent === connectionsOfProcess)
    return [ok('pooler', 'it is in session mode, and has enough connections')]
  const found = `more connections that it has for this role: ${lent}; each process and each command needs ${connectionsOfProcess}`
  return [
    fault('pooler', { found, change: 'default_pool_size = 11 x processes + 11 for a command' }),
  ]
}

async function lentAtOnce(pool: pg.Pool): Promise<number> {
  const all = Array.from({ length: connectionsOfProcess }, () => pool.connect())
  const outcomes = await Promise.allSettled(all)
  const lent = outcomes.filter((outcome) => outcome.status === 'fulfilled')
  for (const { value: client } of lent) client.release()
  return lent.length
}

type Facts = Record<'replica' | 'readonly' | 'isSuper' | 'creates', boolean> &
  Record<'version' | 'fsync' | 'commit' | 'encoding' | 'role', string> & { aheadMs: number }

async function factsOf(pool: pg.Pool, now: () => number): Promise<Facts> {
  const before = now()
  const { rows } = await pool.query(`
    select current_setting('server_version') as version, pg_is_in_recovery() as replica,
      extract(epoch from clock_timestamp())::float8 * 1000 as at,
      current_setting('default_transaction_read_only')::boolean as readonly,
      current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as commit,
      current_setting('server_encoding') as encoding,
      rolname as role, rolsuper as "isSuper",
      coalesce(has_schema_privilege(current_schema(), 'create'), false) as creates
    from pg_roles where rolname = current_user`)
  return { ...rows[0], aheadMs: rows[0].at - (before + now()) / 2 }
}

function ground({ replica, readonly, fsync, commit, encoding }: Facts): Finding[] {
  const findings: Finding[] = []
  const wrong = (found: string, change: string) =>
    findings.push(fault('database', { found, change }))
  if (replica) wrong('it is a read-only replica', 'name the primary in CARILLON_DATABASE_URL')
  if (readonly && !replica)
    wrong(
      'it accepts no writes from this role',
      'alter role ROLE reset default_transaction_read_only;',
    )
  if (encoding !== 'UTF8')
    wrong(`its encoding is ${encoding}`, 'createdb --encoding=UTF8 --template=template0 carillon')
  const isOff = { fsync: fsync !== 'on', synchronous_commit: commit === 'off' }
  for (const [name, isLossy] of Object.entries(isOff)) {
    const found = `${name} is off: acknowledged writes are lost if the machine loses power`
    if (isLossy) findings.push(warning('disk', { found, change: `${name} = on` }))
  }
  return findings
}

function rights({ role, isSuper, creates }: Facts): Finding {
  const own = 'create role carillon login password ...; alter database ... owner to carillon;'
  const found = `${role} is a superuser, with more rights than Carillon needs`
  if (isSuper) return warning('rights', { found, change: own })
  if (creates) return ok('rights', `${role} may create tables`)
  const change = `grant create on schema public to ${role};`
  return fault('rights', { found: `${role} may not create tables`, change })
}

/** Commands that run now count, too. */
async function processes(pool: pg.Pool): Promise<Finding[]> {
  const { rows } = await pool.query<{ name: string }>(`
    select application_name as name from pg_stat_activity
    where datname = current_database() and application_name like '${listenerName} %' order by 1`)
  const found = rows.map(({ name }) => name.slice(listenerName.length + 1)).join(', ')
  return [ok('processes', found || 'none runs')]
}

async function schema(pool: pg.Pool, applied: string[]): Promise<Finding> {
  const finding = schemaFinding({ applied, known: knownMigrations() })
  if (finding.state !== 'ok' || !(await needsFunctions(pool, knownFunctions()))) return finding
  return warning('schema', {
    found: 'its functions are of an older Carillon',
    change: 'npx carillon migrate',
  })
}
