// Counting costs a hot path an addition. The names are closed lists: no client can add a label.

function zeros<const Name extends string>(...names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>
}

const outcomesOfSending = () => zeros('sent', 'failed', 'given_up')
const outcomesOfTimer = () => zeros('queued', 'nothing')
const outcomesOfSignIn = () => zeros('accepted', 'refused', 'delayed', 'factor_required')

export const counts = {
  /** `factor_required`: the first of two steps was right. */
  signIns: {
    password: outcomesOfSignIn(),
    totp: outcomesOfSignIn(),
    'recovery-code': outcomesOfSignIn(),
    passkey: outcomesOfSignIn(),
    provider: outcomesOfSignIn(),
    link: outcomesOfSignIn(),
  },
  refusedProofs: zeros(
    'missing',
    'not-well-formed',
    'other-kind',
    'key-not-valid',
    'token-not-valid',
    'session-ended',
    'in-query',
    'in-another-field',
    'scope-missing',
  ),
  deliveries: zeros('delivered', 'repeated', 'refused', 'failed'),
  recipients: zeros('delivered', 'updated', 'muted', 'unknown_recipient'),
  acts: zeros(
    'read',
    'unread',
    'archive',
    'unarchive',
    'snooze',
    'delete',
    'seen',
    'read-all',
    'archive-read',
    'undo',
  ),
  bulkSteps: 0,
  timers: zeros('due', 'old', 'excess', 'failed'),
  /** By channel. `failed`: it is sent again. */
  outbox: { mail: outcomesOfSending(), push: outcomesOfSending(), webhook: outcomesOfSending() },
  /** By channel, timers of what is unread. `nothing`: no reason was left. */
  reminders: {
    mail: outcomesOfTimer(),
    push: outcomesOfTimer(),
    unread: outcomesOfTimer(),
    webhook: outcomesOfTimer(),
  },
  streams: zeros('opened', 'refused'),
  streamEvents: 0,
  tidiedAt: 0,
}

export async function countSending<Result>(
  channel: keyof typeof counts.outbox,
  sending: Promise<Result>,
): Promise<Result> {
  try {
    const result = await sending
    counts.outbox[channel].sent++
    return result
  } catch (error) {
    counts.outbox[channel].failed++
    throw error
  }
}

/** In seconds. */
export const bucketBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5] as const

export class Durations {
  readonly buckets: number[] = bucketBounds.map(() => 0)
  count = 0
  sumMs = 0

  add(ms: number): void {
    this.count++
    this.sumMs += ms
    const bucket = bucketBounds.findIndex((bound) => ms <= bound * 1_000)
    if (bucket >= 0) this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1
  }
}
