// A node of Carillon without HTTP: its own pool and its own listening connection, so that what a ring costs and how long it
// takes from one node to another can be measured. A process of its own; `without-rings` is the floor, which tells nobody.
import { readDatabaseUrl } from '../../server/config/database-url.ts'
import { newId } from '../../server/ids.ts'
import { openStore } from '../../server/store/open.ts'
import { ChangeSignals } from '../../server/store/postgres/change-signals.ts'
import type { Store } from '../../server/store/store.ts'
import { sharedNow } from '../processes/clock.ts'
import { type ProbeQuestion, probe } from '../processes/probe.ts'
import { answerQuestions } from '../processes/respond.ts'

export type ChangeSignalQuestion =
  | { step: 'open'; url: string; rings: 'on' | 'off' }
  /** One delivery after another to `usernames` in turn, `atOnce` at a time; `everyMs` is the pause of each of those. */
  | { step: 'deliver'; usernames: string[]; seconds: number; atOnce: number; everyMs?: number }
  | { step: 'listen' }
  | { step: 'heard' }
/** `committed` and `heard`: by user the moments, in milliseconds of a clock that all processes of the machine share. */
export type Moments = Map<string, number[]>
export type Delivered = { perSecond: number; committed: Moments }

let store: Store | undefined
let heard: Moments = new Map()

async function open({ url, rings }: { url: string; rings: 'on' | 'off' }): Promise<void> {
  if (rings === 'off') ChangeSignals.prototype.ring = () => {}
  store = (await openStore(readDatabaseUrl(url))).store
}

async function deliver(
  on: Store,
  { usernames, seconds, atOnce, everyMs = 0 }: Extract<ChangeSignalQuestion, { step: 'deliver' }>,
): Promise<Delivered> {
  const committed: Moments = new Map()
  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1_000
  let count = 0
  const deliverOn = async () => {
    while (performance.now() < endsAt) {
      const [beganAt, turn] = [performance.now(), count++]
      const outcome = await on.deliver(deliveryTo(usernames[turn % usernames.length] as string, turn))
      if (outcome !== 'mismatch') note(committed, outcome.results[0]?.userId ?? '')
      if (everyMs > 0) await new Promise((resolve) => setTimeout(resolve, beganAt + everyMs - performance.now()))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, deliverOn))
  return { perSecond: (count / (performance.now() - startedAt)) * 1_000, committed }
}

function deliveryTo(username: string, turn: number): Parameters<Store['deliver']>[0] {
  const at = Date.now()
  const content = JSON.stringify({
    title: `Number ${turn}`,
    body: 'It is on its way.',
    url: null,
    category: 'orders',
    data: null,
    key: null,
    createdAt: new Date(at).toISOString(),
  }).slice(1, -1)
  const recipients = [{ to: { username }, notificationId: newId(at) }]
  return {
    id: newId(at),
    producerId: 'bench',
    idempotency: null,
    content,
    category: 'orders',
    key: null,
    recipients,
    at,
  }
}

function listen(on: Store): void {
  on.onChange((ring) => {
    if (ring.about === 'inbox') note(heard, ring.userId)
    else note(heard, ring.about)
  })
}

function takeHeard(): Moments {
  const all = heard
  heard = new Map()
  return all
}

function note(moments: Moments, userId: string): void {
  const known = moments.get(userId)
  const now = sharedNow()
  if (known === undefined) moments.set(userId, [now])
  else known.push(now)
}

answerQuestions((question: ChangeSignalQuestion | ProbeQuestion) => {
  if ('about' in question) return probe(question)
  if (question.step === 'open') return open(question)
  if (store === undefined) throw new Error('no store was opened')
  if (question.step === 'deliver') return deliver(store, question)
  if (question.step === 'listen') return listen(store)
  return takeHeard()
})
