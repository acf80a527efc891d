// The result of examining a database, and the findings that both engines share.
import { iso } from '../../basics/clock.ts'
import { firstIdAt } from '../../basics/ids.ts'
import type { Query } from '../../store/statements.ts'
import { type Move, movingTable, refuseIncomplete } from '../../store/transfer-state.ts'
import { type SigningKey, signingKeys } from '../../tokens/signing-keys.store.ts'
import { type Finding, fault, ok, warning } from '../finding.ts'

export type Examined = {
  findings: Finding[]
  /** Undefined if they could not be read. */
  signingKeys: SigningKey[] | undefined
  /** How many second factors begin with this header of a JWE, which names the key that sealed them. */
  sealedFactors?: SealedFactors | undefined
}
export type SealedFactors = { header: string; count: number }[]

/** The one finding, if it prevents all others. */
export function unread(finding: Finding): Examined {
  return { findings: [finding], signingKeys: undefined }
}

/** Runs one statement that only reads. */
type Read = (sql: string) => Promise<Record<string, unknown>[]>

/** `tables`: the query of the names of all tables. `header`: the SQL of the text before the first dot of `sealed_secret`. */
type Content = { schema: Finding; applied: readonly string[]; now: number; tables: string; header: string }

/** What both engines read in the same way. Throws as `refuseIncomplete` does. */
export async function examineContent(read: Read, { schema, applied, now, tables, header }: Content): Promise<Examined> {
  refuseIncomplete(applied)
  const names = (await read(tables)).map(({ name }) => name)
  const [moving] = names.includes(movingTable) ? await read(`select state from ${movingTable}`) : []
  const move = moving === undefined ? undefined : (JSON.parse(String(moving.state)) as Move)
  const findings = [schema, ...(move ? [moveFinding(move)] : [])]
  if (applied.length === 0) return { findings, signingKeys: [] }
  // A service records each failure of its hourly work, and repeats the work after an hour.
  const since = firstIdAt(now - 65 * 60_000)
  const [failed] = await read(`select max(at) as at from audit where event = 'tidying-failed' and id >= '${since}'`)
  if (failed?.at) {
    const found = `it failed at ${iso(Number(failed.at))}, so rows that have ended stay`
    const change = 'read the line tidying-failed in the log of the service'
    findings.push(fault('hourly work', { found, change }))
  }
  findings.push(await lateWork(read, now))
  const seen = await read(`
    select seen_at as "seenAt", held_since as "heldSince" from time_seen
    where held_since is not null and seen_at < ${now - 7 * 24 * 3_600_000}`)
  findings.push(...seen.map(clockAhead))
  const sealedFactors = await read(`
    select ${header} as header, cast(count(*) as integer) as count
    from factor where sealed_secret is not null group by 1`)
  findings.push(...(await twoMeanings(read)))
  const { strings } = signingKeys().next().value as Query
  const keys = (await read(strings.join(''))) as SigningKey[]
  return { findings, signingKeys: keys, sealedFactors: sealedFactors as SealedFactors }
}

/** What a running service does within seconds, and the hourly removal of links. */
async function lateWork(read: Read, now: number): Promise<Finding> {
  const [oldest] = await read(`
    select min(expires_at) as expiries, (select min(away_at) from notification where away = 'snoozed') as snoozes,
      (select min(at) from key_change) as "changes by key", (select min(expires_at) + 7200000 from one_time_link) as links
    from notification where expires_at is not null`)
  const late: string[] = []
  for (const [what, dueAt] of Object.entries(oldest ?? {})) {
    const seconds = Math.round((now - new Date((dueAt ?? now) as string).getTime()) / 1000)
    if (seconds > 60) late.push(`${what} by ${seconds} s`)
  }
  if (late.length === 0) return ok('background work', 'none is behind')
  const change = 'if a service runs: read its lines tidying-failed and overload'
  return warning('background work', { found: `it is behind: ${late.join(', ')}`, change })
}

/** Written by audit/time-seen.store.ts. */
function clockAhead({ seenAt, heldSince }: Record<string, unknown>): Finding {
  const found =
    `the clock was at ${iso(Number(heldSince))}, and the last time before was ${iso(Number(seenAt))}: nothing is removed ` +
    'by age until the service has run with this clock for an hour'
  return fault('clock ahead', { found, change: 'if the clock is wrong, correct it: timedatectl set-ntp true' })
}

/** Usernames that are the verified address of another user of no application, whom the name then signs in (users/credentials.ts). */
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

export function schemaFinding({ applied, known }: { applied: readonly string[]; known: readonly string[] }): Finding {
  const newer = applied.find((name) => !known.includes(name))
  const missing = known.filter((name) => !applied.includes(name))
  if (newer !== undefined) {
    const found = `${newer} was applied by a newer Carillon; this program knows ${known.at(-1)}`
    return fault('schema', { found, change: 'run the version that applied it, or a later one' })
  }
  if (missing.length === 0) return ok('schema', `${applied.at(-1)}, the newest of this program`)
  const found = applied.length === 0 ? 'the database has no tables yet' : `${missing.join(', ')} not applied yet`
  return warning('schema', { found, change: 'npx carillon migrate' })
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
