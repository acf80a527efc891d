import { Command } from 'commander'
import { recorded } from '../../audit/entry.ts'
import { iso } from '../../basics/clock.ts'
import { notFound } from '../../basics/errors.ts'
import { displayedRow, dropFromOutbox, listOutbox, retryOutbox } from '../../reach/outbox.store.ts'
import { onStore, type Place, withSettings } from '../settings.ts'
import { type Output, print, printList, WrongUse } from '../terminal/output.ts'

const maxListed = 1_000

const help = {
  list: `
A row is one mail, one push to one browser, or one event for a webhook: its kind, its user, and how often it was tried. The service sends it when it is due, and gives it up after a day. An event-to-read waits for a backend, for three days.`,
  retry: `
For after the mail server, a push service or the receiver of a webhook was repaired: otherwise what failed waits, each time twice as long, up to an hour. Events that a backend reads stay as they are.`,
  drop: `
What is dropped is not sent, and a backend that reads events never sees it. The notifications stay in the inbox. A row that is being sent now stays.`,
}

type Chosen = Output & { all?: true }

export function makeCommand(): Command {
  const outbox = new Command('outbox').description(
    'List, retry and drop the mails, pushes and events that wait',
  )
  outbox
    .command('list')
    .description('List what waits, the next one first')
    .addHelpText('after', help.list)
    .action(onStore(list))
  outbox
    .command('retry [id]')
    .description('Let what waits be sent now')
    .option('--all', 'all of them')
    .addHelpText('after', help.retry)
    .action(onStore(retry))
  outbox
    .command('drop [id]')
    .description('Remove what waits, unsent')
    .option('--all', 'all of them')
    .addHelpText('after', help.drop)
    .action(onStore(drop))
  return withSettings(outbox)
}

async function list({ store }: Place, options: Output): Promise<void> {
  const rows = await store.read(listOutbox, { limit: maxListed })
  const items = rows.map((row) => ({
    ...displayedRow(row),
    userId: row.ownerId || null,
    target: row.target || null,
    dueAt: iso(row.dueAt),
    since: iso(row.at),
  }))
  const columns = {
    id: 'id',
    kind: 'kind',
    user: 'userId',
    tries: 'tries',
    due: 'dueAt',
    'waits since': 'since',
    reason: 'reason',
  } as const
  printList(options, items, { columns, empty: 'Nothing waits.' })
}

async function retry({ store, now }: Place, id: string | undefined, options: Chosen) {
  const count = await store.write(retryOutbox, { ids: idsOf(id, options), at: now() })
  refuseUnknown(id, count)
  print(options, { retried: count }, () => `Due now: ${count}`)
}

async function drop(place: Place, id: string | undefined, options: Chosen): Promise<void> {
  const ids = idsOf(id, options)
  const entry = recorded(place, { event: 'outbox-dropped', detail: { id: id ?? 'all' } })
  const count = await place.store.write(dropFromOutbox, { ids, ...entry })
  refuseUnknown(id, count)
  print(options, { dropped: count }, () => `Removed: ${count}`)
}

function idsOf(id: string | undefined, { all }: Chosen): string[] | null {
  if ((id === undefined) === (all === undefined)) throw new WrongUse('name one id, or write --all')
  return id === undefined ? null : [id]
}

function refuseUnknown(id: string | undefined, count: number): void {
  if (id !== undefined && count === 0)
    throw notFound(
      `Nothing with the id ${id} waits`,
      'It was sent or is being sent, or a backend reads it: carillon outbox list.',
    )
}
