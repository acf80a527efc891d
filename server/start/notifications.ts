// Composes what fills an inbox and what sends it: deliveries, the notices of the service itself, lists, and live streams.
import type { AuditLines } from '../audit/audit-lines.ts'
import { writeOperatorLines } from '../audit/operator-lines.ts'
import type { Clock } from '../basics/clock.ts'
import { newId } from '../basics/ids.ts'
import type { Log } from '../basics/log.ts'
import type { Config } from '../config/settings.ts'
import { Deliveries } from '../delivery/deliver.ts'
import { Inbox } from '../inbox/inbox.ts'
import { ChangesSince } from '../live/changes.ts'
import { Live } from '../live/live.ts'
import { StreamLimits } from '../live/stream-limits.ts'
import { type Notice, type NoticeOptions, Notices } from '../mail/notices.ts'
import type { Store } from '../store/store.ts'

type Surroundings = { log: Log; clock: Clock; random: () => number; url: () => string }

export function composeNotifications(store: Store, config: Config, { log, clock, random }: Surroundings) {
  const { now, wall } = clock
  const streamLimits = new StreamLimits({ perUser: config.streamsPerUser, perProcess: config.streams }, random)
  const onFailure = (error: unknown) =>
    log.warn({ event: 'stream-not-read', err: error }, 'the store could not be read for a stream; retrying')
  return {
    inbox: new Inbox({ store, now: wall }),
    preferences: { store, wall },
    live: new Live({ store, now, streamLimits, random, onFailure }),
    changes: new ChangesSince({ store, streamLimits }),
    byKey: { store, wall, imageHosts: config.imageHosts },
    deliveries: new Deliveries({ store, now, wall, issuers: config.issuers, imageHosts: config.imageHosts }),
  }
}

type NoticeParts = Pick<NoticeOptions, 'guesses' | 'mail'> & { deliveries: Deliveries; lines: AuditLines }

export function composeNotices(
  store: Store,
  { pagesPrefix, newDeviceNotices: ofNewDevices }: Config,
  { log, url, clock, deliveries, guesses, mail, lines }: Surroundings & NoticeParts,
): Notices {
  const { now, wall } = clock
  const deliver = async (userId: string, notice: Notice, idempotencyKey: string) => {
    const deliveryId = newId(now())
    const request = { recipients: [{ userId }], ...notice }
    return (await deliveries.deliver('carillon', request, { idempotencyKey, deliveryId })).deliveryId === deliveryId
  }
  const notices = new Notices({
    ...{ store, deliver, ofNewDevices, log, guesses, mail },
    pagesUrl: () => url() + pagesPrefix,
  })
  writeOperatorLines({ store, lines, now: wall, note: (entry) => notices.note(entry) })
  return notices
}
