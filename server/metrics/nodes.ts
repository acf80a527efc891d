// What doctor, /operator and `carillon stats` know of this process.
import type { Store } from '../store/store.ts'
import { type NodeFacts, putNode, removeNode } from './nodes.store.ts'

const everyMs = 60_000
const unchangedMs = 4 * 60_000

type Sources = {
  store: Store
  wall: () => number
  id: string
  name: string
  settings: NodeFacts['settings']
  mostStreams: () => NodeFacts['streams']
}

export class RunningNode {
  readonly #sources: Sources
  #written = { facts: '', at: 0 }
  #timer: NodeJS.Timeout | undefined

  constructor(sources: Sources) {
    this.#sources = sources
  }

  start(): void {
    this.#timer = setInterval(() => void this.write().catch(() => {}), everyMs).unref()
  }

  async write(): Promise<void> {
    const { store, wall, id, name, settings, mostStreams } = this.#sources
    const facts = JSON.stringify({ settings, streams: mostStreams() })
    const at = wall()
    if (facts === this.#written.facts && at < this.#written.at + unchangedMs) return
    await store.write(putNode, { id, name, seenAt: at, facts })
    this.#written = { facts, at }
  }

  async end(): Promise<void> {
    clearInterval(this.#timer)
    await this.#sources.store.write(removeNode, this.#sources.id).catch(() => {})
  }
}
