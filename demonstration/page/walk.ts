// The steps of the walk: which were sent, and what came back. It knows no HTML.
import type { Exchange } from '../server/api.ts'
import { statusOf } from './picture.ts'
import { dataIn, elsewhere, type Lane, lanes, type Request, restricted, type World } from './world.ts'

export const stepIds = ['without-proof', 'sign-in', 'with-proof', 'inbox'] as const
export type StepId = (typeof stepIds)[number]

/** What the servers respond if the step works. The other server cannot check a cookie. */
export const expected: Readonly<Record<StepId, Readonly<Record<Lane, readonly number[]>>>> = {
  'without-proof': { session: [401], token: [401] },
  'sign-in': { session: [200], token: [200] },
  'with-proof': { session: [200, 401], token: [200, 200] },
  inbox: { session: [200, 204, 204], token: [200, 204, 204] },
}

export class Walk {
  readonly results = new Map<StepId, Readonly<Record<Lane, readonly Exchange[]>>>()
  readonly #world: World
  #epoch = -1

  constructor(world: World) {
    this.#world = world
  }

  /** Sends a step, and those before it, if they were not sent. */
  async reach(wanted: StepId): Promise<void> {
    const world = this.#world
    if (world.visit === undefined || world.epoch !== this.#epoch) {
      await world.fresh()
      this.#epoch = world.epoch
      // What the reader has seen stays; an experiment has ended the proofs since.
      if (this.results.has('sign-in')) await world.signInBoth()
    }
    for (const id of stepIds.slice(0, stepIds.indexOf(wanted) + 1)) {
      if (this.results.has(id)) continue
      // One lane after the other, so that what the server keeps before and after belongs to one request.
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

  /** So that the next step begins in a new world. */
  restart(): void {
    this.results.clear()
    this.#world.leave()
  }

  isUnexpected(id: StepId): boolean {
    const result = this.results.get(id)
    return lanes.some((lane) => String(result?.[lane].map(statusOf)) !== String(expected[id][lane]))
  }
}
