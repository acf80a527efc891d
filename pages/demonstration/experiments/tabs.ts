// Is the demonstration open in another tab, and does an experiment run there? All tabs share the cookie and the visitor's service. The
// tabs of one address talk over a channel, and no server is involved.

type Message = { from: string; kind: 'hello' | 'here' | 'bye' | 'running' | 'idle' }

/** The longest experiment takes some 15 seconds. A tab that crashed says no more that it is done. */
const maxRunMs = 60_000

export class Tabs {
  readonly #channel: BroadcastChannel
  readonly #id: string
  readonly #changed: () => void
  readonly #others = new Set<string>()
  readonly #running = new Map<string, number>()
  #isRunning = false

  /** `name`: of the channel. `id`: of this tab. */
  constructor({ name, id, changed }: { name: string; id: string; changed: () => void }) {
    this.#id = id
    this.#changed = changed
    this.#channel = new BroadcastChannel(name)
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#receive(data)
    this.#send('hello')
  }

  get hasOther(): boolean {
    return this.#others.size > 0
  }

  get isOtherRunning(): boolean {
    const from = performance.now() - maxRunMs
    return [...this.#running.values()].some((since) => since > from)
  }

  set isRunning(isRunning: boolean) {
    this.#isRunning = isRunning
    this.#send(isRunning ? 'running' : 'idle')
  }

  /** The tab is left, or closed. */
  leave(): void {
    this.#send('bye')
  }

  /** The reader came back to the tab by the history of the browser. */
  comeBack(): void {
    this.#others.clear()
    this.#running.clear()
    this.#send('hello')
    this.#changed()
  }

  close(): void {
    this.leave()
    this.#channel.close()
  }

  #send(kind: Message['kind']): void {
    this.#channel.postMessage({ from: this.#id, kind } satisfies Message)
  }

  #receive({ from, kind }: Message): void {
    if (kind === 'bye') this.#others.delete(from)
    else this.#others.add(from)
    if (kind === 'running') this.#running.set(from, performance.now())
    if (kind === 'idle' || kind === 'bye') this.#running.delete(from)
    if (kind === 'hello') this.#send(this.#isRunning ? 'running' : 'here')
    this.#changed()
  }
}
