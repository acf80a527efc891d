import { Command } from 'commander'
import { recorded } from '../../audit/entry.ts'
import { unavailable } from '../../basics/errors.ts'
import { newOrderedId } from '../../basics/ids.ts'
import { addTestMail } from '../../reach/outbox.store.ts'
import { readProfile } from '../../users/profile.ts'
import { onStore, type Place, withSettings } from '../settings.ts'
import { type Output, print, WrongUse } from '../terminal/output.ts'
import { triesOf } from './tries.ts'

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
  const tries = await triesOf(store, id)
  if (tries === 0)
    throw unavailable(
      'No service sent the mail within 30 s',
      'Start the service with CARILLON_SMTP_URL; the mail waits for it.',
    )
  if (tries !== undefined)
    throw unavailable(
      'The mail server did not accept the mail',
      'Read the lines send-failed in its log; it tries again. carillon outbox list shows what waits.',
    )
  print(options, { sent: true }, () => `The mail server accepted the mail to ${target}`)
}
