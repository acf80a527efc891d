// How do all tabs of a browser share one stream? The tab that holds the Web Lock leads: it has the stream, and tells the
// others by BroadcastChannel what comes. They take over where it stops, each from its own position, so that a change of
// leader loses and doubles nothing. Over HTTP/1.1 a browser has six connections to a server, for all its tabs together.
import { type Backoff, delayAfter } from '../transport/backoff.ts'
import { follow, leavable, pause, unlessAborted } from '../transport/cancellation.ts'
import { CarillonError, isCarillonError } from '../transport/errors.ts'
import type { Position, StreamEvent } from '../transport/types.ts'

/** Tabs that have the same name for it share its stream. By cookie they share the proof too, and its end. */
export type SharedInbox = { name: string; isByCookie: boolean }

export type SharedStream = {
  /** Asked again where the stream turns out to be of another inbox. */
  inbox: (signal: AbortSignal) => Promise<SharedInbox>
  /** Opens the stream. `onLife` is called whenever something came, be it a comment. */
  open: (from: { since: Position | undefined; signal: AbortSignal | undefined }, onLife: () => void) => Events
  since?: Position | undefined
  signal?: AbortSignal | undefined
  /** For an inbox that becomes another one again and again. */
  backoff: Backoff
  /** A leader that tells nothing for so long is asked, and deposed within half as long again. Default 30,000. */
  silenceMs?: number | undefined
}

type Events = AsyncIterableIterator<StreamEvent>

/** What tabs tell each other. One that says nothing else is a sign of life. */
type Message = {
  /** How far the one who leads is. */
  at?: Position | undefined
  /** What came, and how far one has to be that nothing is missing between. */
  event?: StreamEvent
  after?: Position | undefined
  /** The question of a tab: what came behind this position? */
  by?: string | undefined
  behind?: Position | undefined
  /** The answer to it. */
  to?: string | undefined
  hello?: StreamEvent
  missed?: StreamEvent[]
  /** The stream is over for good. */
  error?: CarillonError
}

/** Of what came last, for those who come late. */
const mostKept = 100
/** What a loop leaves lying beyond this it has to list anew. */
const mostUntaken = 1_000
/** So long a word is waited for that another way overtook: a list may tell of a version before the stream does. */
const patienceMs = 1_000
/** What follows on a greeting comes in one piece with it, or right behind. */
const holdMs = 100

/**
 * Tells each tab every event once and in order. Where there is no page, or a browser without these primitives, the stream
 * is the tab's own. Nothing is asked before the first `next()`; `return()` leaves at once, also while a `next()` waits.
 */
export function oneForAllTabs(stream: SharedStream): Events {
  const { document, navigator, BroadcastChannel: channels } = globalThis
  if (!document || !navigator.locks || !channels)
    return stream.open({ since: stream.since, signal: stream.signal }, () => {})
  const tab = new Tab(stream)
  return leavable(tab.events(), () => tab.leave())
}

class Tab {
  readonly #stream: SharedStream
  readonly #silenceMs: number
  readonly #id = String(Math.random())
  readonly #end = new AbortController()
  #hasLeft = false
  #isOver = false
  #error: unknown
  /** What the loop has not taken yet, and how it is told of more. */
  #untaken: StreamEvent[] = []
  #wake = () => {}
  #channel: BroadcastChannel | undefined
  /** From a request for the lock to the end of what came of it. */
  #turn = new AbortController()
  #steals = false
  #leads = false
  /** The stream became another inbox's: another signed in, or the service was restored. */
  #hasMoved = false
  /** In a row, since a change came. */
  #moves = 0
  /** When it was asked whose stream it is, and whether the others have the same proof. */
  #namedAt = 0
  #isByCookie = false
  /** A greeting that may be somebody else's, with his counters. */
  #greeting: StreamEvent | undefined
  /** Of one who follows: was he told where the leader is? */
  #hasJoined = false
  #hasAsked = false
  #watch: ReturnType<typeof setTimeout> | undefined
  /** When the stream last showed life. */
  #livedAt = 0
  /** Behind the last event, since when events are kept, those that are, and the last of all. */
  #at: Position | undefined
  #keptSince: Position | undefined
  #kept: StreamEvent[] = []
  #last: StreamEvent | undefined

  constructor(stream: SharedStream) {
    this.#stream = stream
    this.#at = stream.since
    this.#silenceMs = stream.silenceMs ?? 30_000
  }

  async *events(): AsyncGenerator<StreamEvent, void> {
    const { signal } = this.#end
    const unfollow = follow(this.#stream.signal, this.#end)
    void this.#takePart()
    try {
      for (;;) {
        signal.throwIfAborted()
        const event = this.#untaken.shift()
        if (event) yield event
        else if (this.#isOver) break
        else await unlessAborted(new Promise<void>((resolve) => (this.#wake = resolve)), signal)
      }
      if (this.#error) throw this.#error
    } catch (error) {
      if (!this.#hasLeft) throw error
    } finally {
      this.#end.abort()
      unfollow()
    }
  }

  leave(): void {
    this.#hasLeft = true
    this.#end.abort()
  }

  async #takePart(): Promise<void> {
    const { signal } = this.#end
    try {
      do {
        if (this.#moves > 1) await pause(delayAfter(undefined, this.#moves - 2, this.#stream.backoff), signal)
        const inbox = await this.#stream.inbox(signal)
        signal.throwIfAborted()
        await this.#share(inbox)
      } while (this.#hasMoved)
    } catch (error) {
      this.#finish(error)
    }
    clearTimeout(this.#watch)
  }

  async #share(inbox: SharedInbox): Promise<void> {
    // With the version of what tabs tell each other: a page of another one has a stream of its own.
    const name = `carillon 1 ${inbox.name}`
    this.#isByCookie = inbox.isByCookie
    this.#namedAt = performance.now()
    this.#channel = new BroadcastChannel(name)
    this.#channel.onmessage = ({ data }) => this.#hear(data)
    this.#hasMoved = this.#hasJoined = false
    while (!this.#hasMoved && !this.#isOver && !this.#end.signal.aborted) await this.#takeTurn(name)
    this.#channel.close()
  }

  /** Follows until the lock is free, then leads until the lock is stolen or the stream is over. */
  async #takeTurn(name: string): Promise<void> {
    const turn = new AbortController()
    const unfollow = follow(this.#end.signal, turn)
    const how = this.#steals ? { steal: true } : { signal: turn.signal }
    this.#steals = this.#hasAsked = false
    this.#turn = turn
    this.#listen()
    this.#ask()
    try {
      await navigator.locks.request(name, how, () => this.#lead(turn.signal))
    } catch (error) {
      // Where locks are refused, as in a frame without an origin, the stream is the tab's own.
      if (!turn.signal.aborted && (error as Error).name !== 'AbortError') await this.#lead(turn.signal)
    }
    this.#leads = false
    turn.abort()
    unfollow()
  }

  async #lead(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    clearTimeout(this.#watch)
    // Without a mark the stream cannot show that another signed in while the lock was waited for.
    this.#hasMoved = !markOf(this.#at) && performance.now() - this.#namedAt > patienceMs
    if (this.#hasMoved) return
    this.#leads = true
    this.#tell({})
    try {
      await this.#relay(signal)
      if (!signal.aborted && !this.#hasMoved) this.#finish()
    } catch (error) {
      if (signal.aborted) return
      this.#leads = false
      this.#finish(error)
      // With tokens each tab has a sign-in of its own, and other errors are this tab's own anyway.
      if (!this.#isByCookie || !isCarillonError(error)) return
      // A channel would take its own fields from an error.
      this.#tell({ error: { ...error, message: error.message } })
      // The lock could overtake the word, and whoever gets it would try for himself.
      await new Promise((resolve) => setTimeout(resolve, patienceMs))
    }
  }

  async #relay(signal: AbortSignal): Promise<void> {
    const onLife = () => {
      this.#livedAt = performance.now()
    }
    try {
      for await (const event of this.#stream.open({ since: this.#at, signal }, onLife)) {
        // The lock was stolen: who has it now tells this one.
        if (signal.aborted) return
        if (!areOfOneInbox(event.position, this.#at)) return this.#move(event)
        this.#greet()
        if (event.type === 'hello') this.#hold(event)
        else this.#pass(event)
      }
    } finally {
      this.#greeting = undefined
    }
  }

  #move(event: StreamEvent): void {
    this.#hasMoved = true
    this.#moves++
    this.#take(told(event, 'resync', event.position))
  }

  /** Where it says no more than what was asked for, a resync may follow and show that somebody else was greeted. */
  #hold(hello: StreamEvent): void {
    this.#greeting = hello
    if (hello.position !== String(this.#at)) this.#greet()
    else setTimeout(() => this.#greeting === hello && this.#greet(), holdMs)
  }

  #greet(): void {
    if (this.#greeting) this.#pass(this.#greeting)
    this.#greeting = undefined
  }

  #pass(event: StreamEvent): void {
    const after = this.#at
    this.#take(event)
    this.#hasJoined = true
    this.#tell({ event, after })
  }

  #hear(message: Message): void {
    const { by, to, error } = message
    if (by) this.#answer(message)
    if (by || this.#leads) return
    this.#listen()
    if (error) this.#finish(new CarillonError(error.code, error.message, error))
    else if (to === this.#id) this.#join(message)
    else if (!to) this.#follow(message)
  }

  /** Takes what follows on the last that was taken, passes over what is known, and asks where something is missing. */
  #follow({ at, event, after }: Message): void {
    const isChange = event && event.type !== 'hello'
    // A question that nobody could answer is put again to whoever shows up.
    if (!isChange) this.#hasAsked = false
    if (!this.#hasJoined) this.#ask()
    else if (event?.type === 'resync') this.#take(event)
    else if (!areOfOneInbox(at, this.#at) || versionOf(isChange ? after : at) > versionOf(this.#at)) this.#ask()
    else if (event?.type === 'hello') this.#push({ ...event, position: String(this.#at) })
    else if (event && versionOf(event.position) > versionOf(this.#at)) this.#take(event)
  }

  #ask(): void {
    if (this.#hasAsked) return
    this.#hasAsked = true
    this.#tell({ by: this.#id, behind: this.#at })
  }

  /** Tells what came behind a position, or a resync where that is not known. Who has no living stream keeps silent. */
  #answer(question: Message, isLate = false): void {
    const at = this.#at
    const last = this.#last
    if (!this.#leads || !last || performance.now() - this.#livedAt >= this.#silenceMs) return
    const { by, behind = at } = question
    const version = versionOf(behind)
    const isAhead = version > versionOf(at)
    if (isAhead && !isLate) {
      setTimeout(() => this.#answer(question, true), patienceMs)
      return
    }
    const isKnown = areOfOneInbox(at, behind) && version >= versionOf(this.#keptSince) && !isAhead
    // With the mark that a bare version is without.
    const start = isKnown ? String(at).replace(/^\d+/, String(version)) : String(at)
    const missed = isKnown
      ? this.#kept.filter(({ position }) => versionOf(position) > version)
      : [told(last, 'resync', start)]
    this.#tell({ to: by, hello: told(last, 'hello', start), missed })
  }

  #join({ hello, missed = [] }: Message): void {
    this.#hasAsked = false
    if (hello && !this.#hasJoined) {
      this.#hasJoined = true
      this.#keptSince = undefined
      this.#take(hello)
    }
    for (const event of missed)
      if (event.type === 'resync' || versionOf(event.position) > versionOf(this.#at)) this.#take(event)
  }

  /** Goes on behind this event. */
  #take(event: StreamEvent): void {
    if (event.type !== 'hello' && event.type !== 'resync') this.#moves = 0
    this.#at = event.position
    if (event.type === 'resync' || this.#keptSince === undefined) {
      this.#kept = []
      this.#keptSince = this.#at
    } else if (event.type !== 'hello') this.#kept.push(event)
    if (this.#kept.length > mostKept) this.#keptSince = this.#kept.shift()?.position
    this.#push(event)
  }

  #push(event: StreamEvent): void {
    this.#last = event
    if (this.#untaken.length < mostUntaken) this.#untaken.push(event)
    else this.#untaken = [told(event, 'resync', event.position)]
    this.#wake()
  }

  #finish(error?: unknown): void {
    this.#isOver = true
    this.#error = error
    this.#turn.abort()
    this.#wake()
  }

  #tell(message: Message): void {
    this.#channel?.postMessage({ at: this.#at, ...message })
  }

  /**
   * Waits for the next word of the leader, asks for one, and then takes the lock from it. The leader sends no beats: timers
   * hardly run in a tab that nobody looks at, and answers are given there too. Not all steal at once, even where all timers
   * end with a machine's sleep.
   */
  #listen(): void {
    clearTimeout(this.#watch)
    this.#watch = setTimeout(() => {
      this.#hasAsked = false
      this.#ask()
      this.#watch = setTimeout(
        () => {
          this.#steals = true
          this.#turn.abort()
        },
        this.#silenceMs * (0.1 + 0.4 * Math.random()),
      )
    }, this.#silenceMs)
  }
}

function versionOf(position: Position | undefined): number {
  return Number(String(position).split('-')[0])
}

function markOf(position: Position | undefined): string | undefined {
  return String(position).split('-')[1]
}

/** A bare version is taken at its word, as the server does. */
function areOfOneInbox(position: Position | undefined, another: Position | undefined): boolean {
  const [one, other] = [markOf(position), markOf(another)]
  return !one || !other || one === other
}

function told({ version, unread, total }: StreamEvent, type: 'hello' | 'resync', position: string): StreamEvent {
  return { type, position, version, unread, total }
}
