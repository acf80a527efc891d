import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import { auditEntry } from '../audit/entry.ts'
import { unavailable } from '../basics/errors.ts'
import { newOrderedId } from '../basics/ids.ts'
import { addTestMail, listOutbox } from '../reach/outbox.store.ts'
import { readProfile } from '../users/profile.ts'
import { type Place, withSettings, withStore } from './settings.ts'
import { type Output, print, WrongUse } from './terminal/output.ts'

const maxWaitMs = 30_000
const everyMs = 250

const help = `
The running service sends it, with its CARILLON_SMTP_URL: the command only adds it to what waits.

Example:
  npx carillon mail test ann@example.org`

export function makeCommand(): Command {
  const mail = new Command('mail').description('Try the mail server')
  mail
    .command('test <address>')
    .description('Send a mail to an address')
    .addHelpText('after', help)
    .action(test)
  return withSettings(mail)
}

async function test(target: string, options: Output, command: Command): Promise<void> {
  const [fault] = readProfile({ email: target }).faults
  if (fault !== undefined) throw new WrongUse(`the address ${fault.reason}`)
  const tries = await withStore(command, (place) => send(place, target))
  if (tries !== undefined) {
    const remedy =
      'Read the lines send-failed in its log; it tries again. carillon outbox list shows what waits.'
    if (tries > 0) throw unavailable('The mail server did not accept the mail', remedy)
    throw unavailable(
      'No service sent the mail within 30 s',
      'Start the service with CARILLON_SMTP_URL; the mail waits for it.',
    )
  }
  print(options, { sent: true }, () => `The mail server accepted the mail to ${target}`)
}

async function send({ store, now, source }: Place, target: string): Promise<number | undefined> {
  const at = now()
  const id = newOrderedId(at)
  const audit = [auditEntry(source, { event: 'mail-tested', at })]
  await store.write(addTestMail, { id, target, at, audit })
  for (let waitedMs = 0; ; waitedMs += everyMs) {
    const [row] = await store.read(listOutbox, { id, limit: 1 })
    if (row === undefined || row.tries > 0 || waitedMs >= maxWaitMs) return row?.tries
    await sleep(everyMs)
  }
}
