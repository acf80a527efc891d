// Composes the notices of the service itself: who delivers them. Changes by commands cause some.
import type { AuditLines } from '../audit/audit-lines.ts'
import { writeOperatorLines } from '../audit/operator-lines.ts'
import type { Clock } from '../basics/clock.ts'
import { newId } from '../basics/ids.ts'
import type { Config } from '../config/settings.ts'
import type { Deliveries } from '../delivery/deliver.ts'
import { type Notice, type NoticeOptions, Notices } from '../mail/notices.ts'
import type { Store } from '../store/store.ts'

type Parts = Pick<NoticeOptions, 'log' | 'guesses' | 'mail'> & {
  clock: Clock
  url: () => string
  deliveries: Deliveries
  lines: AuditLines
}

export function composeNotices(store: Store, config: Config, parts: Parts): Notices {
  const { log, url, clock, deliveries, guesses, mail, lines } = parts
  const { pagesPrefix, newDeviceNotices: ofNewDevices } = config
  const deliver = async (userId: string, notice: Notice, idempotencyKey: string) => {
    const deliveryId = newId(clock.now())
    const request = { recipients: [{ userId }], ...notice }
    return (await deliveries.deliver('carillon', request, { idempotencyKey, deliveryId })).deliveryId === deliveryId
  }
  const pagesUrl = () => url() + pagesPrefix
  const notices = new Notices({ store, deliver, ofNewDevices, log, guesses, mail, pagesUrl })
  writeOperatorLines({ store, lines, now: clock.wall, note: (entry) => notices.note(entry) })
  return notices
}
