import type { AuditLines } from '../audit/audit-lines.ts'
import { writeOperatorLines } from '../audit/operator-lines.ts'
import { newId } from '../basics/ids.ts'
import type { Config } from '../config/settings.ts'
import type { Deliveries } from '../delivery/deliver.ts'
import { type Notice, type NoticeOptions, Notices } from '../reach/notices.ts'
import type { Reach } from '../reach/reach.ts'
import type { Store } from '../store/store.ts'
import type { Environment } from './proofs.ts'

type Parts = Environment &
  Pick<NoticeOptions, 'guesses'> & {
    deliveries: Deliveries
    reach: Reach
    lines: AuditLines
  }

export function composeNotices(store: Store, config: Config, parts: Parts): Notices {
  const { log, url, clock, deliveries, guesses, reach, lines } = parts
  const { pagesPrefix, newDeviceNotices: ofNewDevices } = config
  const deliver = async (userId: string, notice: Notice, idempotencyKey: string) => {
    const deliveryId = newId(clock.now())
    const request = { recipients: [{ userId }], ...notice }
    return (
      (await deliveries.deliver('carillon', request, { idempotencyKey, deliveryId })).deliveryId ===
      deliveryId
    )
  }
  const pagesUrl = () => url() + pagesPrefix
  const { now } = clock
  const { outbox } = reach
  const notices = new Notices({ store, deliver, ofNewDevices, log, guesses, now, outbox, pagesUrl })
  reach.register('notice', { renderMail: (row) => notices.renderMail(row) })
  writeOperatorLines({ store, lines, now: clock.wall, note: (entry) => notices.note(entry) })
  return notices
}
