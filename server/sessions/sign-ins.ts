// Where is a user signed in? Lists the user's sign-ins of both variants, and ends one, all others, or one that was not the user's. How a proof
// ends by itself is in sessions.ts and tokens/access-token.ts.
import { deviceLabel } from '../audit/entry.ts'
import { CarillonError, notAuthenticated } from '../basics/errors.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { revocationKeptForMs } from '../tokens/access-token.ts'
import type { TokenRevocations } from '../tokens/revocations.ts'
import type { Excepted } from '../tokens/tokens.store.ts'
import type { SeenDevice } from './sessions.store.ts'
import type { Sessions } from './sessions.ts'
import { type AliveSignIns, endOtherSignIns, endSignIn, type ListedSignIn, listSignIns } from './sign-ins.store.ts'

/** The caller's own sign-in, and what the request says of its device. */
export type OwnSignIn = {
  userId: string
  signInId: string
  proof: 'session' | 'access-token'
  userAgent: string | null
  address: string
  signedInAt: number
}

export type DisplayedSignIn = Pick<ListedSignIn, 'variant' | 'device' | 'address' | 'createdAt' | 'lastSeenAt'> & {
  id: string
  current: boolean
  /** When the sign-in ends at the latest, in milliseconds. */
  expiresAt: number
}

type Options = {
  store: Store
  sessions: Pick<Sessions, 'liveBounds'>
  revocations: Pick<TokenRevocations, 'note' | 'refresh'>
  now: () => number
  lifetimeMs: number
  /** How long after a sign-in its tokens can be renewed. */
  chainMs: number
}
/** Sorts after every id. */
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

type End = { signInId: string; audit: readonly AuditEntry[] }

export class SignIns {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  /** Newest first; the caller's own comes first on the first page, even if the service has kept nothing of it. */
  async list(
    own: OwnSignIn,
    { after, limit }: { after?: string | undefined; limit: number },
  ): Promise<{ items: DisplayedSignIn[]; next: string | null }> {
    const query = { userId: own.userId, ownSignInId: own.signInId, alive: this.#alive(), limit: limit + 1 }
    const found = await this.#options.store.read(listSignIns, { ...query, ...(after !== undefined && { after }) })
    const listed = found.map((one) => this.#display(one))
    if (after === undefined && listed[0]?.id !== own.signInId) listed.unshift(this.#displayOwn(own))
    const items = listed.slice(0, limit).map((one) => ({ ...one, current: one.id === own.signInId }))
    // The own one has a place of its own: after it alone, the others begin with the newest.
    const last = items.at(-1)?.id === own.signInId ? lastId : (items.at(-1)?.id ?? null)
    return { items, next: listed.length > limit ? last : null }
  }

  /** Ends a sign-in of the user with its tokens; both are refused on this node when it resolves. Throws NOT_FOUND. */
  async end(own: OwnSignIn, end: End): Promise<void> {
    await this.#end(own, end)
  }

  /** The same, and the password alone no longer signs in from unknown devices; `device` is the caller's, which stays known. */
  async disown(own: OwnSignIn, { device, ...end }: End & { device: SeenDevice }): Promise<void> {
    await this.#end(own, { ...end, disowned: device })
  }

  /** Ends every other sign-in of the user, and every token that was issued for the user. Throws UNAUTHORIZED if the caller's has ended. */
  async endOthers(
    { userId }: OwnSignIn,
    { audit, ...except }: Excepted & { exceptSignInId: string; audit: readonly AuditEntry[] },
  ): Promise<void> {
    const { store, revocations } = this.#options
    const outcome = await store.write(endOtherSignIns, { userId, ...except, ...this.#moment(), audit })
    if (outcome === 'refused') throw notAuthenticated()
    await revocations.refresh()
  }

  async #end(own: OwnSignIn, { signInId, audit, disowned }: End & { disowned?: SeenDevice }): Promise<void> {
    const { userId } = own
    const { at, revocationExpiresAt } = this.#moment()
    const isOwn = signInId === own.signInId && own.proof === 'access-token'
    const change = { userId, signInId, isOwn, at, revocationExpiresAt, audit, ...(disowned && { disowned }) }
    const ended = await this.#options.store.write(endSignIn, { ...change, alive: this.#alive() })
    if (ended === 'absent')
      throw new CarillonError('NOT_FOUND', 'There is no such session', {
        remedy: 'It may have ended; GET /api/me/sessions lists those that are open.',
      })
    this.#options.revocations.note({ userId, signInId, at, expiresAt: revocationExpiresAt })
  }

  #moment() {
    const at = this.#options.now()
    return { at, revocationExpiresAt: at + revocationKeptForMs }
  }

  #alive(): AliveSignIns {
    const { sessions, now, chainMs } = this.#options
    return { sessions: sessions.liveBounds(), tokensSince: now() - chainMs + 1 }
  }

  #display(one: ListedSignIn): Omit<DisplayedSignIn, 'current'> {
    const { signInId: id, variant, address, createdAt, lastSeenAt } = one
    const device = variant === 'stateful' ? one.device : deviceLabel(one.userAgent)
    return { id, variant, device, address, createdAt, lastSeenAt, expiresAt: this.#endOf(variant, createdAt) }
  }

  #endOf(variant: ListedSignIn['variant'], createdAt: number): number {
    return createdAt + (variant === 'stateful' ? this.#options.lifetimeMs : this.#options.chainMs)
  }

  #displayOwn({ signInId: id, proof, userAgent, address, signedInAt: createdAt }: OwnSignIn) {
    const variant = proof === 'session' ? ('stateful' as const) : ('stateless' as const)
    const device = deviceLabel(userAgent)
    const lastSeenAt = this.#options.now()
    return { id, variant, device, address, createdAt, lastSeenAt, expiresAt: this.#endOf(variant, createdAt) }
  }
}
