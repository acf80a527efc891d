// A row is also its node's claim.
import { all, get, type Read, run, send, type Write } from '../store/statements.ts'

/** A node renews its claim each minute. After five minutes without renewal, it has died. */
const claimMs = 5 * 60_000
const retryMs = 3_600_000

/** `endedAt`: null during the backup. `bytes`: null unless it succeeded. */
export type ScheduledBackup = {
  dueAt: number
  node: string
  path: string
  startedAt: number
  endedAt: number | null
  bytes: number | null
  failure: string | null
}
type Claim = Pick<ScheduledBackup, 'dueAt' | 'node' | 'path'> & { at: number }

/**
 * Only one caller gets the claim. Another one gets it after five minutes without a renewal, or an
 * hour after a failure.
 */
export function* claimBackup({ dueAt, node, path, at }: Claim): Write<boolean> {
  const added = yield* run`
    insert into scheduled_backup (due_at, node, path, started_at, renewed_at)
    values (${dueAt}, ${node}, ${path}, ${at}, ${at}) on conflict (due_at) do nothing`
  if (added > 0) return true
  const taken = yield* run`
    update scheduled_backup
    set node = ${node}, path = ${path}, started_at = ${at}, renewed_at = ${at}, ended_at = null, failure = null
    where due_at = ${dueAt} and bytes is null
      and renewed_at < case when ended_at is null then cast(${at - claimMs} as bigint) else cast(${at - retryMs} as bigint) end`
  return taken > 0
}

/** Returns whether the caller still has the claim. */
export function* renewBackup({ dueAt, path, at }: Omit<Claim, 'node'>): Write<boolean> {
  const renewed = yield* run`
    update scheduled_backup set renewed_at = ${at} where due_at = ${dueAt} and path = ${path} and ended_at is null`
  return renewed > 0
}

type End = Omit<Claim, 'node'> & Pick<ScheduledBackup, 'bytes' | 'failure'>

/** Changes nothing if another node has the claim. */
export function* endBackup({ dueAt, path, at, bytes, failure }: End): Write<void> {
  yield* send`
    update scheduled_backup set ended_at = ${at}, renewed_at = ${at}, bytes = ${bytes}, failure = ${failure}
    where due_at = ${dueAt} and path = ${path} and ended_at is null`
}

export function* scheduledBackups(): Read<ScheduledBackup[]> {
  return yield* all<ScheduledBackup>`
    select due_at as "dueAt", node, path, started_at as "startedAt", ended_at as "endedAt", bytes, failure
    from scheduled_backup order by due_at desc`
}

export function* forgetBackup(dueAt: number): Write<void> {
  yield* send`delete from scheduled_backup where due_at = ${dueAt}`
}

/** 0 if no backup has succeeded yet, undefined if none was ever due. */
export function* lastBackupAt(): Read<number | undefined> {
  const row = yield* get<{ count: number; at: number | null }>`
    select count(*) as count, max(case when bytes is not null then ended_at end) as at from scheduled_backup`
  return row === undefined || row.count === 0 ? undefined : (row.at ?? 0)
}
