import { iso } from '../../basics/clock.ts'
import { firstIdAt } from '../../basics/ids.ts'
import { type NodeFacts, nodeLivesMs } from '../../metrics/nodes.store.ts'
import type { Query } from '../../store/statements.ts'
import {
  type Maintenance,
  type Move,
  refuseIncomplete,
  tableOf,
} from '../../store/transfer-state.ts'
import { type SigningKey, signingKeys } from '../../tokens/signing-keys.store.ts'
import { type Finding, fault, ok, warning } from '../finding.ts'

export type Examined = {
  findings: Finding[]
  signingKeys: SigningKey[] | undefined
  /** The factors' JWE headers name the key. */
  sealedFactors?: SealedFactors | undefined
}
export type SealedFactors = { header: string; count: number }[]

export function unread(finding: Finding): Examined {
  return { findings: [finding], signingKeys: undefined }
}

/** Full mailboxes and greylists delay mails for less. */
const maxWaitMinutes = 60
/** More rows would take time from requests on the page of the operator. */
const maxCounted = 1_000

/** `quick`: reads no whole table. `deep`: reads every page of a SQLite file. */
export type Depth = 'quick' | 'usual' | 'deep'

type Read = (sql: string) => Promise<Record<string, unknown>[]>

type Content = {
  schema: Finding
  applied: readonly string[]
  now: number
  tables: string
  header: string
  depth: Depth
}

export async function examineContent(
  read: Read,
  { schema, applied, now, tables, header, depth }: Content,
): Promise<Examined> {
  refuseIncomplete(applied)
  const names = (await read(tables)).map(({ name }) => name)
  const stateIn = async (table: string) => {
    const [row] = names.includes(table) ? await read(`select state from ${table}`) : []
    return row && JSON.parse(String(row.state))
  }
  const move: Move | undefined = await stateIn(tableOf('moving'))
  const maintenance: Maintenance | undefined = await stateIn(tableOf('maintenance'))
  const findings = [
    schema,
    ...(move ? [moveFinding(move)] : []),
    ...(maintenance ? [readOnlySince(maintenance.startedAt)] : []),
  ]
  if (applied.length === 0) return { findings, signingKeys: [] }
  // A service records each failure of its hourly work, and repeats that after an hour.
  const since = firstIdAt(now - 65 * 60_000)
  const [failed] = await read(lastOf('tidying-failed', since))
  if (failed?.at) {
    const found = `it failed at ${iso(Number(failed.at))}, so rows that have ended stay`
    const change = 'read the line tidying-failed in the log of the service'
    findings.push(fault('hourly work', { found, change }))
  }
  findings.push(await lateWork(read, now), ...(await scheduledBackups(read, now)))
  findings.push(
    await waitingRows(read, now),
    ...(await refusedMails(read, now)),
    ...(await webhooks(read)),
  )
  const seen = await read(`
    select seen_at as "seenAt", held_since as "heldSince" from time_seen
    where held_since is not null and seen_at < ${now - 7 * 24 * 3_600_000}`)
  findings.push(...seen.map(clockAhead))
  findings.push(...(await operators(read)), ...(await nodeSettings(read, now)))
  const { strings } = signingKeys().next().value as Query
  const keys = (await read(strings.join(''))) as SigningKey[]
  if (depth === 'quick') return { findings, signingKeys: keys }
  findings.push(...(await twoMeanings(read)))
  const sealedFactors = await read(`
    select ${header} as header, cast(count(*) as integer) as count
    from factor where sealed_secret is not null group by 1`)
  return { findings, signingKeys: keys, sealedFactors: sealedFactors as SealedFactors }
}

/** Each event has its own index, because attacks write many others. */
export function lastOf(event: 'tidying-failed' | 'mails-refused', since: string): string {
  return `select max(at) as at from audit where event = '${event}' and id >= '${since}'`
}

/** The oldest of each; a service does this within seconds. Citus would not run one statement. */
const due = {
  expiries: 'min(expires_at) as at from notification where expires_at is not null',
  snoozes: 'min(snoozed_until) as at from notification where snoozed_until is not null',
  'changes by key': 'min(at) as at from key_change',
  links: 'min(expires_at) + 7200000 as at from one_time_link',
}

async function lateWork(read: Read, now: number): Promise<Finding> {
  const late: string[] = []
  for (const [what, oldest] of Object.entries(due)) {
    const [row] = await read(`select ${oldest}`)
    const dueAt = row?.at ?? now
    const seconds = Math.round((now - new Date(dueAt as string).getTime()) / 1000)
    if (seconds > 60) late.push(`${what} by ${seconds} s`)
  }
  if (late.length === 0) return ok('background work', 'none is behind')
  const change = 'if a service runs: read its lines tidying-failed and overload'
  return warning('background work', { found: `it is behind: ${late.join(', ')}`, change })
}

async function scheduledBackups(read: Read, now: number): Promise<Finding[]> {
  const rows = await read(`
    select node, path, ended_at as at, bytes, failure from scheduled_backup where ended_at is not null order by due_at desc`)
  const [newest] = rows
  if (newest === undefined) return []
  const made = rows.find(({ bytes }) => bytes !== null)
  const age = made && Math.round((now - Number(made.at)) / 3_600_000)
  const last =
    made === undefined
      ? 'none was made yet'
      : `the last is ${age} h old: ${made.path}, by ${made.node}`
  if (newest.failure !== null) {
    const found = `the newest failed on ${newest.node} at ${iso(Number(newest.at))}: ${newest.failure}; ${last}`
    return [fault('backup', { found, change: 'mend that; the service tries again after an hour' })]
  }
  if (Number(age) <= 26) return [ok('backup', last)]
  return [
    warning('backup', {
      found: last,
      change: 'read the lines backup-failed of the service, or run carillon backup',
    }),
  ]
}

async function waitingRows(read: Read, now: number): Promise<Finding> {
  const [row] = await read(`
    select cast(count(*) as integer) as count, min(at) as oldest from
      (select at from outbox where kind <> 'event-to-read' order by id limit ${maxCounted}) oldest_rows`)
  if (!row?.count) return ok('outbox', 'nothing waits to be sent')
  const minutes = Math.max(0, Math.round((now - Number(row.oldest)) / 60_000))
  const least = row.count === maxCounted ? 'at least ' : ''
  const found = `mails, pushes and events that wait: ${least}${row.count}, the oldest for ${minutes} min`
  if (minutes <= maxWaitMinutes) return ok('outbox', found)
  return warning('outbox', {
    found,
    change: 'read the lines send-failed in the log, then carillon outbox retry --all',
  })
}

async function refusedMails(read: Read, now: number): Promise<Finding[]> {
  const since = firstIdAt(now - 24 * 3_600_000)
  const [refused] = await read(lastOf('mails-refused', since))
  if (!refused?.at) return []
  const found = `the mail server refused more than 20 addresses for good within an hour, at ${iso(Number(refused.at))}`
  const change =
    'it may refuse this service: read the reasons in the lines send-given-up of the log'
  return [fault('mails', { found, change })]
}

async function webhooks(read: Read): Promise<Finding[]> {
  const rows = await read(`
    select id, disabled_at as "disabledAt", failing_since as "failingSince", attempts from webhook where failing_since is not null`)
  return rows.map(({ id, disabledAt, failingSince, attempts }) => {
    const [last] = JSON.parse(String(attempts))
    const found = `${id} fails since ${iso(Number(failingSince))}: ${last.outcome}`
    const change = `mend its receiver, then carillon webhook test ${id}`
    if (disabledAt === null) return warning('webhook', { found, change })
    return fault('webhook', { found: `${found}; disabled at ${iso(Number(disabledAt))}`, change })
  })
}

function clockAhead({ seenAt, heldSince }: Record<string, unknown>): Finding {
  const found =
    `the clock was at ${iso(Number(heldSince))}, and the last time before was ${iso(Number(seenAt))}: nothing is removed ` +
    'by age until the service has run with this clock for an hour'
  return fault('clock ahead', {
    found,
    change: 'if the clock is wrong, correct it: timedatectl set-ntp true',
  })
}

/** Such a name signs in the address's owner (users/credentials.ts). */
async function twoMeanings(read: Read): Promise<Finding[]> {
  const [row] = await read(`
    select cast(count(*) as integer) as count
    from "user" owner join "user" other on other.username = lower(owner.email) and other.id <> owner.id
    where owner.email_verified_at is not null and owner.username is not null and owner.issuer not like '%\u0001%'`)
  if (!row?.count) return []
  const found = `usernames that are the verified address of another user: ${row.count}`
  const change =
    'rename those users: the address signs its owner in, and they sign in on known devices, by passkey or link'
  return [warning('names', { found, change })]
}

async function operators(read: Read): Promise<Finding[]> {
  const [row] = await read(`
    select (select cast(count(*) as integer) from "user" where role = 'operator' and disabled_at is null) as count,
      (select min(username) from "user" where password_hash is not null) as "somebody"`)
  if (!row?.somebody) return []
  if (Number(row.count) > 0) return [ok('operators', `users with the role operator: ${row.count}`)]
  const found = 'no user has the role operator, so nobody can open the page /operator'
  return [warning('operators', { found, change: 'npx carillon user role NAME operator' })]
}

/** Only addresses should differ between nodes. */
const ofOneNode = /^CARILLON_(METRICS_)?(HOST|PORT)$/

async function nodeSettings(read: Read, now: number): Promise<Finding[]> {
  const rows = await read(
    `select name, facts from node where seen_at >= ${now - nodeLivesMs} order by name, id`,
  )
  if (rows.length < 2) return []
  const nodes = rows.map(({ name, facts }) => {
    return { name, settings: (JSON.parse(String(facts)) as NodeFacts).settings }
  })
  const names = new Set(nodes.flatMap(({ settings }) => Object.keys(settings)))
  const differing = [...names].flatMap((setting) => {
    const values = nodes.map(({ name, settings }) => {
      return { name, value: JSON.stringify(settings[setting] ?? 'not set') }
    })
    const isSame = new Set(values.map(({ value }) => value)).size === 1
    if (isSame || ofOneNode.test(setting)) return []
    return `${setting} (${values.map(({ name, value }) => `${name}: ${value}`).join(', ')})`
  })
  const check = 'settings of the nodes'
  if (differing.length === 0) return [ok(check, `${nodes.length} nodes run with the same`)]
  const change = 'give each node the same values, and restart the others'
  return [warning(check, { found: `they differ: ${differing.join('; ')}`, change })]
}

export function schemaFinding({
  applied,
  known,
}: {
  applied: readonly string[]
  known: readonly string[]
}): Finding {
  const newer = applied.find((name) => !known.includes(name))
  const missing = known.filter((name) => !applied.includes(name))
  if (newer !== undefined) {
    const found = `${newer} was applied by a newer Carillon; this program knows ${known.at(-1)}`
    return fault('schema', { found, change: 'run the version that applied it, or a later one' })
  }
  if (missing.length === 0) return ok('schema', `${applied.at(-1)}, the newest of this program`)
  const found =
    applied.length === 0
      ? 'the database has no tables yet'
      : `${missing.join(', ')} not applied yet`
  return warning('schema', { found, change: 'npx carillon migrate' })
}

function readOnlySince(at: number): Finding {
  const found = `the service can only be read since ${iso(at)}`
  return warning('maintenance', { found, change: 'when it is done: npx carillon maintenance off' })
}

const giveUp = 'or give it up: npx carillon move --give-up --from THIS'

function moveFinding({ target, startedAt, endedAt }: Move): Finding {
  if (endedAt === null)
    return fault('move', {
      found: `it is being moved to ${target} since ${iso(startedAt)}, and accepts no writes until the move is done`,
      change: `run the same move again; ${giveUp} (the new database cannot be used then)`,
    })
  return fault('move', {
    found: `it was moved to ${target} at ${iso(endedAt)}, and has accepted no writes since then`,
    change: `set CARILLON_DATABASE_URL to the new one; ${giveUp} (it does not have what was written to the new one)`,
  })
}
