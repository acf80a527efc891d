import { iso } from '../../basics/clock.ts'
import { type MailRule, mailDueAt } from '../../inbox/mail-rules.ts'
import { mailBit, reachBits } from '../../inbox/reminders.store.ts'
import { rulesOf } from '../../preferences/preferences.store.ts'
import type { Write } from '../../store/statements.ts'
import { findUser } from '../../users/users.store.ts'
import { joinOutbox } from '../outbox.store.ts'
import {
  type DueTimer,
  type Look,
  maxRead,
  takeDue,
  type Waiting,
} from '../timers/decision.store.ts'

/** Puts what is due into one outbox row, or into one that waits for a limit. Returns how many. */
export function* decideMail(look: Look & { mailUnread: MailRule }): Write<number> {
  const { userId: ownerId, at, rowId, mailUnread } = look
  const channel = 'mail' as const
  function* ruleOf({ reach }: DueTimer) {
    const reader = yield* findUser(ownerId)
    if (reader?.disabledAt !== null || (reach & reachBits.address) === 0) return undefined
    const rules = yield* rulesOf(reader, mailUnread, iso(at))
    const { hours, isMuted } = rules
    const dueAtOf = ({ category, sent_at, isNotice }: Waiting) =>
      // Notices of changes have their own mails.
      isNotice ? undefined : mailDueAt(rules.ruleOf(category), Date.parse(sent_at), hours)
    return { dueAtOf, hours, isMuted }
  }
  const due = yield* takeDue(look, { channel, bit: mailBit, ruleOf })
  if (due.length === 0) return 0
  yield* joinOutbox({
    id: rowId,
    kind: 'unread',
    dueAt: at,
    ownerId,
    channel,
    target: '',
    joined: due.map(({ id }) => id),
    most: maxRead,
    isUntried: true,
    at,
  })
  return due.length
}
