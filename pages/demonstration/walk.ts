// Where the reader is in the walk: which steps were sent, what came back, and what went wrong. It knows no HTML.
import { expectedStatus, type Results, type StepId, sendStep, stepIds } from './steps.ts'
import { type Lane, lanes, type Sent, type World, WorldError } from './world.ts'

export type Place = 'start' | StepId

export class Walk {
  readonly world: World
  readonly results: Results = new Map()
  place: Place = 'start'
  sending: StepId | undefined
  /** Why the step `wanted` was not reached. */
  trouble: { error: WorldError; wanted: StepId } | undefined
  readonly #prepare: (world: World) => Promise<void>
  readonly #changed: () => void

  /** `prepare`: what a new world needs before its first step. */
  constructor(world: World, { prepare, changed }: { prepare: (world: World) => Promise<void>; changed: () => void }) {
    this.world = world
    this.#prepare = prepare
    this.#changed = changed
  }

  get next(): StepId | undefined {
    return this.place === 'start' ? stepIds[0] : stepIds[stepIds.indexOf(this.place) + 1]
  }

  /** Shows a step; sends it first, and those before it, if they were not sent. */
  async show(place: Place): Promise<void> {
    if (place !== 'start' && !this.results.has(place)) {
      // An experiment may have to end first.
      this.sending = place
      this.#changed()
      return this.world.alone(() => this.#sendUpTo(place))
    }
    this.place = place
    this.trouble = undefined
    this.#changed()
  }

  /** Goes to the place in a new world. */
  async restart(place: Place): Promise<void> {
    this.results.clear()
    this.world.leave()
    await this.show(place)
  }

  async #sendUpTo(wanted: StepId): Promise<void> {
    this.trouble = undefined
    try {
      if (this.world.visit === undefined) await this.#begin()
      for (const id of stepIds.slice(0, stepIds.indexOf(wanted) + 1)) if (!this.results.has(id)) await this.#send(id)
      this.place = wanted
    } catch (error) {
      if (!(error instanceof WorldError)) throw error
      this.trouble = { error, wanted }
    } finally {
      this.sending = undefined
      this.#changed()
    }
  }

  async #begin(): Promise<void> {
    this.sending = stepIds[0]
    this.#changed()
    await this.world.begin()
    await this.#prepare(this.world)
  }

  /** One lane after the other, so that what the server keeps before and after belongs to one request. */
  async #send(id: StepId): Promise<void> {
    this.sending = id
    this.#changed()
    const sent: Partial<Record<Lane, Sent>> = {}
    for (const lane of lanes) sent[lane] = await sendStep(id, lane, this.world, this.results)
    this.results.set(id, sent as Record<Lane, Sent>)
  }

  /** The lanes whose response was not the one of the step: the proof has ended since, or the browser sent no cookie. */
  unexpected(id: StepId): readonly Lane[] {
    const result = this.results.get(id)
    return lanes.filter((lane) => result !== undefined && result[lane].status !== expectedStatus[id])
  }
}
