import { Command } from 'commander'
import { listAudit } from '../../audit/audit.store.ts'
import { recorded, serviceSource } from '../../audit/entry.ts'
import { unavailable } from '../../basics/errors.ts'
import { newOrderedId } from '../../basics/ids.ts'
import { addTestMail } from '../../reach/outbox.store.ts'
import type { Store } from '../../store/store.ts'
import { readProfile } from '../../users/profile.ts'
import { onStore, type Place, withSettings } from '../settings.ts'
import { type Output, print, WrongUse } from '../terminal/output.ts'
import { triedRow } from './tries.ts'

/** Between this machine and that of the service. */
const maxClockDifferenceMs = 60_000

const help = `
The running service sends it, with its CARILLON_SMTP_URL: the command only adds it to what waits.`

export function makeCommand(): Command {
  const mail = new Command('mail').description('Try the mail server')
  mail
    .command('test <address>')
    .description('Send a mail to an address')
    .addHelpText('after', help)
    .action(onStore(test))
  return withSettings(mail)
}

async function test(place: Place, target: string, options: Output): Promise<void> {
  const [fault] = readProfile({ email: target }).faults
  if (fault !== undefined) throw new WrongUse(`the address ${fault.reason}`)
  const { store, now } = place
  const at = now()
  const id = newOrderedId(at)
  await store.write(addTestMail, { id, target, at, ...recorded(place, { event: 'mail-tested' }) })
  const row = await triedRow(store, id)
  if (row?.tries === 0)
    throw unavailable(
      'No service sent the mail within 30 s',
      'Start the service with CARILLON_SMTP_URL; the mail waits for it.',
    )
  if (row !== undefined)
    throw unavailable(
      `The mail server did not accept the mail: ${row.reason}`,
      'The service tries again: carillon outbox list.',
    )
  const refusal = await refusalOf(store, { id, at })
  if (refusal !== undefined) throw unavailable(`The mail server refused the mail: ${refusal}`)
  print(options, { sent: true }, () => `The mail server accepted the mail to ${target}`)
}

/** Why the mail server refused it for good. */
async function refusalOf(store: Store, { id, at }: { id: string; at: number }) {
  const query = { actor: serviceSource.actor, since: at - maxClockDifferenceMs, limit: 1_000 }
  const entries = await store.read(listAudit, query)
  return entries.find(({ detail }) => detail?.row === id)?.detail?.reason
}
