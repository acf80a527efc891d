// A node of Carillon without HTTP, with its own pool and its own listening connection, to measure what a change signal costs
// and how long it takes to another node. Runs in a separate process. With `changeSignals: 'off'` it sends none: the floor.
import { readDatabaseUrl } from '../../server/config/database-url.ts'
import { openStore } from '../../server/store/open.ts'
import { ChangeSignals } from '../../server/store/postgres/change-signals/change-signals.ts'
import type { Store } from '../../server/store/store.ts'
import { sharedNow } from '../processes/clock.ts'
import { type ProbeRequest, probe } from '../processes/probe.ts'
import { serveRequests } from '../processes/respond.ts'
import { deliveryTo } from '../setup/delivery.ts'

export type ChangeSignalRequest =
  | { step: 'open'; url: string; changeSignals: 'on' | 'off' }
  /** Delivers to `usernames` one after another in `atOnce` parallel loops; each loop makes one delivery per `everyMs`. */
  | { step: 'deliver'; usernames: string[]; seconds: number; atOnce: number; everyMs?: number }
  | { step: 'listen' }
  | { step: 'received' }
/** Per user, the times of commits or of received change signals, in milliseconds of `sharedNow`. */
export type Moments = Map<string, number[]>
export type Delivered = { perSecond: number; committed: Moments }

let store: Store | undefined
let received: Moments = new Map()

async function open({ url, changeSignals }: { url: string; changeSignals: 'on' | 'off' }): Promise<void> {
  if (changeSignals === 'off') ChangeSignals.prototype.send = () => {}
  store = (await openStore(readDatabaseUrl(url))).store
}

async function deliver(
  on: Store,
  { usernames, seconds, atOnce, everyMs = 0 }: Extract<ChangeSignalRequest, { step: 'deliver' }>,
): Promise<Delivered> {
  const committed: Moments = new Map()
  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1_000
  let count = 0
  const deliverOn = async () => {
    while (performance.now() < endsAt) {
      const [beganAt, turn] = [performance.now(), count++]
      const outcome = await on.deliver(deliveryTo(usernames[turn % usernames.length] as string, turn))
      if (outcome !== 'mismatch' && 'results' in outcome) note(committed, outcome.results[0]?.userId ?? '')
      if (everyMs > 0) await new Promise((resolve) => setTimeout(resolve, beganAt + everyMs - performance.now()))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, deliverOn))
  return { perSecond: (count / (performance.now() - startedAt)) * 1_000, committed }
}

function listen(on: Store): void {
  on.onChange((changeSignal) => {
    if (changeSignal.about === 'inbox') note(received, changeSignal.userId)
    else note(received, changeSignal.about)
  })
}

function takeReceived(): Moments {
  const all = received
  received = new Map()
  return all
}

function note(moments: Moments, userId: string): void {
  const known = moments.get(userId)
  const now = sharedNow()
  if (known === undefined) moments.set(userId, [now])
  else known.push(now)
}

serveRequests((question: ChangeSignalRequest | ProbeRequest) => {
  if ('about' in question) return probe(question)
  if (question.step === 'open') return open(question)
  if (store === undefined) throw new Error('no store was opened')
  if (question.step === 'deliver') return deliver(store, question)
  if (question.step === 'listen') return listen(store)
  return takeReceived()
})
