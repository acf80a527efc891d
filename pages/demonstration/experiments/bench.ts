// Where the reader is with the experiments: what was predicted, what runs, what was measured, and what went wrong. It knows no HTML.
import { type Lane, type Trouble, type World, WorldError } from '../world.ts'
import type { Answer, Answers, Experiment, ExperimentId, Measurements, Stage } from './experiment.ts'
import { type Kept, keep, readKept } from './kept-results.ts'
import { signIn } from './lanes.ts'
import type { Tabs } from './tabs.ts'

type Problem = Trouble | 'choose' | 'otherTab'

/** How long the page of the other site may take. */
const maxLoadMs = 10_000

export class Bench {
  readonly world: World
  #kept: Kept = readKept()
  readonly #changed: () => void
  running: ExperimentId | undefined
  /** Until the database is there again. */
  secondsLeft: number | undefined
  problem: { id: ExperimentId; what: Problem } | undefined
  /** The address of the other site's page while that is in the frame. */
  frame: { address: string; loaded: () => void } | undefined

  constructor(world: World, changed: () => void) {
    this.world = world
    this.#changed = changed
  }

  get results(): Kept['results'] {
    return this.#kept.results
  }

  predictionOf(id: ExperimentId): Partial<Answers> {
    return this.#kept.predictions[id] ?? {}
  }

  predict(id: ExperimentId, lane: Lane, answer: Answer): void {
    this.#kept.predictions[id] = { ...this.predictionOf(id), [lane]: answer }
    if (this.problem?.what === 'choose') this.problem = undefined
    keep(this.#kept)
    this.#changed()
  }

  forget(): void {
    this.#kept = { predictions: {}, results: {} }
    keep(this.#kept)
    this.#changed()
  }

  /** True if it was measured; otherwise `problem` says why not. */
  async run({ id, run }: Experiment, tabs: Pick<Tabs, 'isOtherRunning' | 'isRunning'>): Promise<boolean> {
    if (this.running !== undefined) return false
    const { session, token } = this.predictionOf(id)
    if (session === undefined || token === undefined) return this.#fail(id, 'choose')
    if (tabs.isOtherRunning) return this.#fail(id, 'otherTab')
    this.running = id
    this.problem = undefined
    tabs.isRunning = true
    this.#changed()
    try {
      const measured = await this.world.alone(() => this.#measure(run))
      this.results[id] = { predicted: { session, token }, measured }
      keep(this.#kept)
      return true
    } catch (error) {
      return this.#fail(id, error instanceof WorldError ? error.trouble : 'other')
    } finally {
      this.running = this.secondsLeft = this.frame = undefined
      tabs.isRunning = false
      this.#changed()
    }
  }

  /** The steps of the walk need a valid proof in both lanes, and the experiment may have ended those. */
  async #measure(run: Experiment['run']): Promise<Measurements> {
    const measured = await run(this.world, this.#stage)
    await signIn(this.world)
    return measured
  }

  #fail(id: ExperimentId, what: Problem): false {
    // The next run then makes a new world: this one has ended, or has had too many requests.
    if (what === 'gone' || what === 'tooMany') this.world.leave()
    this.problem = { id, what }
    this.#changed()
    return false
  }

  get #stage(): Stage {
    return {
      countDown: (seconds) => {
        this.secondsLeft = seconds
        this.#changed()
      },
      inFrame: (address, action) => this.#inFrame(address, action),
    }
  }

  async #inFrame<Result>(address: string, action: () => Promise<Result>): Promise<Result> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.frame = { address, loaded: resolve }
    this.#changed()
    const timer = setTimeout(resolve, maxLoadMs)
    try {
      await promise
      return await action()
    } finally {
      clearTimeout(timer)
      this.frame = undefined
      this.#changed()
    }
  }
}
