// The steps of the walk: which were sent, and what came back. It knows no HTML.
import type { Exchange } from '../server/api.ts'
import { dataIn, elsewhere, type Lane, type Request, restricted, type World } from './world.ts'

export const stepIds = ['without-proof', 'sign-in', 'with-proof', 'inbox'] as const
export type StepId = (typeof stepIds)[number]

export class Walk {
  readonly results = new Map<StepId, Readonly<Record<Lane, readonly Exchange[]>>>()
  readonly #world: World
  /** Of the proofs that the steps have. */
  #visit: World['visit']

  constructor(world: World) {
    this.#world = world
  }

  /** Sends a step, and those before it, if they were not sent. */
  async reach(wanted: StepId): Promise<void> {
    const world = this.#world
    if (world.visit === undefined || world.visit !== this.#visit) {
      await world.fresh()
      this.#visit = world.visit
      // What the reader has seen stays; an experiment has ended the proofs since.
      if (this.results.has('sign-in')) await world.signInBoth()
    }
    for (const id of stepIds.slice(0, stepIds.indexOf(wanted) + 1)) {
      if (this.results.has(id)) continue
      // One lane after the other, so that what the server keeps belongs to one request.
      this.results.set(id, { session: await this.#send(id, 'session'), token: await this.#send(id, 'token') })
    }
  }

  async #send(id: StepId, lane: Lane): Promise<Exchange[]> {
    const world = this.#world
    if (id === 'without-proof') return [await world.send(lane, { ...restricted, hasProof: false })]
    if (id === 'sign-in') return [await world.signIn(lane)]
    if (id === 'with-proof') return [await world.send(lane, restricted), await world.send(lane, elsewhere)]
    const list = await world.send(lane, { path: 'service/api/notifications?page=1&limit=10' })
    const { items = [] } = dataIn<{ items: { id: string; read: boolean }[] }>(list)
    const first = items.find(({ read }) => !read) ?? items[0]
    const markOne: Request = { method: 'PATCH', path: `service/api/notifications/${first?.id}/read` }
    const markAll: Request = { method: 'POST', path: 'service/api/notifications/read-all' }
    return [list, await world.send(lane, markOne), await world.send(lane, markAll)]
  }
}
