// The log lines of sign-ins. Each names the user, the client's address and the request. The number of lines about refusals is limited,
// since a client needs no proof to cause one (SECURITY.md, L1, L2).
import type { Log } from '../../log/log.ts'
import { LogWindow } from '../../log/log-window.ts'
import type { EndedSignIn } from '../../sign-in/end-presented.ts'

type Source = { address: string; requestId: string }
type Variant = EndedSignIn['variant']
type KnownUser = { id: string; username: string | null }
/** `name` is what the client sent; `user` is the user with that name, if there is one. */
export type NamedAccount = { name: string; user: KnownUser | undefined }
type Named = { userId: string; username: string | null } | { nameHash: string }
type Pair = { account: Named; address: string; inMinute: number; unlogged: number }

const minuteMs = 60_000
const secondMs = 1_000
/** Lines with one refusal each: of one account and address in a minute; of all at once, and then one each second. */
const maxLines = { samePerMinute: 10, atOnce: 20 }
const maxPairs = 1_000
/** Pairs of account and address that get a line with their count at the end of a minute; the others share one line. */
const maxCounts = 5

export class SignInLog {
  readonly #log: Log
  readonly #nameHash: (name: string) => string
  readonly #pairs = new Map<string, Pair>()
  readonly #minute = new LogWindow(minuteMs, () => this.#writeCounts())
  readonly #second = new LogWindow(secondMs, () => {
    if (--this.#lines > 0) this.#second.begin()
  })
  /** Lines that count against `maxLines.atOnce`: one more for each line, one less for each second. */
  #lines = 0
  /** Refusals of pairs beyond `maxPairs`. */
  #others = 0

  constructor({ log, nameHash }: { log: Log; nameHash: (name: string) => string }) {
    this.#log = log
    this.#nameHash = nameHash
  }

  signedIn({ address, requestId }: Source, { id: userId, username }: KnownUser, variant: Variant): void {
    this.#log.info({ event: 'sign-in', userId, username, address, requestId, variant }, 'sign-in')
  }

  signedOut({ address, requestId }: Source, { userId, username, variant }: EndedSignIn): void {
    this.#log.info({ event: 'sign-out', userId, username, address, requestId, variant }, 'sign-out')
  }

  refused(
    { address, requestId }: Source,
    { name, user }: NamedAccount,
    { code, variant }: { code: string; variant: Variant },
  ): void {
    this.#minute.begin()
    const named = user === undefined ? { nameHash: this.#nameHash(name) } : { userId: user.id, username: user.username }
    const pair = this.#pairOf(named, address)
    if (pair === undefined) this.#others++
    else if (pair.inMinute++ >= maxLines.samePerMinute || this.#lines >= maxLines.atOnce) pair.unlogged++
    else {
      this.#lines++
      this.#second.begin()
      this.#log.info({ event: 'sign-in-refused', code, ...named, address, requestId, variant }, 'sign-in refused')
    }
  }

  end(): void {
    this.#minute.end()
  }

  #pairOf(account: Named, address: string): Pair | undefined {
    const key = `${'userId' in account ? account.userId : account.nameHash} ${address}`
    const known = this.#pairs.get(key)
    if (known !== undefined || this.#pairs.size >= maxPairs) return known
    const pair = { account, address, inMinute: 0, unlogged: 0 }
    this.#pairs.set(key, pair)
    return pair
  }

  #writeCounts(): void {
    const counted = [...this.#pairs.values()].filter(({ unlogged }) => unlogged > 0)
    counted.sort((a, b) => b.unlogged - a.unlogged)
    for (const { account, address, unlogged: count } of counted.slice(0, maxCounts))
      this.#log.info({ event: 'sign-in-refused', ...account, address, count }, 'sign-ins refused')
    const rest = counted.slice(maxCounts)
    const count = rest.reduce((sum, { unlogged }) => sum + unlogged, this.#others)
    const addresses = new Set(rest.map(({ address }) => address)).size
    if (count > 0)
      this.#log.info({ event: 'sign-in-refused', addresses, count }, 'sign-ins refused, of several accounts')
    this.#pairs.clear()
    this.#others = 0
  }
}
