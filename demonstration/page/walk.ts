import type { Exchange } from '../server/api.ts'
import { dataIn, elsewhere, type Lane, restricted, type World } from './world.ts'

export const stepIds = ['without-proof', 'sign-in', 'with-proof', 'inbox'] as const
export type StepId = (typeof stepIds)[number]
/** The step itself sends the first act. */
export const inboxActs = ['inbox', 'archive', 'snooze'] as const
type InboxAct = (typeof inboxActs)[number]
type Sent = Readonly<Record<Lane, readonly Exchange[]>>

export class Walk {
  readonly results: Map<StepId | InboxAct, Sent>
  readonly #world: World
  #visit: World['visit']

  constructor(world: World, results: Iterable<[StepId | InboxAct, Sent]> = []) {
    this.results = new Map(results)
    this.#world = world
  }

  /** Also sends earlier steps that were not sent. */
  async reach(wanted: StepId | InboxAct): Promise<void> {
    if (this.results.has(wanted)) return
    const world = this.#world
    if (world.visit === undefined || world.visit !== this.#visit) {
      await world.fresh()
      this.#visit = world.visit
      // An experiment may have ended the proofs.
      if (this.results.has('sign-in')) await world.signInBoth()
    }
    for (const id of [...stepIds.slice(0, stepIds.indexOf(wanted as StepId) + 1), wanted]) {
      if (this.results.has(id)) continue
      // One lane after the other: what the server keeps belongs to one request.
      this.results.set(id, {
        session: await this.#send(id, 'session'),
        token: await this.#send(id, 'token'),
      })
    }
  }

  async #send(id: StepId | InboxAct, lane: Lane): Promise<Exchange[]> {
    const world = this.#world
    if (id === 'without-proof') return [await world.send(lane, { ...restricted, hasProof: false })]
    if (id === 'sign-in') return [await world.signIn(lane)]
    if (id === 'with-proof') return world.sendAll(lane, [restricted, elsewhere])
    const path = 'service/api/notifications'
    const list = await world.send(lane, { path })
    const { items = [] } = dataIn<{ items: { id: string; read: boolean }[] }>(list)
    const first = items.find(({ read }) => !read) ?? items[0]
    const patch = (act: string, body?: object) => ({
      method: 'PATCH',
      path: `${path}/${first?.id}/${act}`,
      body,
    })
    if (id === 'archive') return [await world.send(lane, patch('archive'))]
    const until = new Date(list.at + 60 * 60_000).toISOString()
    if (id === 'snooze') return [await world.send(lane, patch('snooze', { until }))]
    const readAll = { method: 'POST', path: `${path}/read-all` }
    return [list, ...(await world.sendAll(lane, [patch('read'), readAll]))]
  }
}
