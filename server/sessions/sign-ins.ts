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

/** `disowned`: the caller's device, if the user says that it was another person. */
type End = { signInId: string; audit: readonly AuditEntry[]; disowned?: SeenDevice }

export class SignIns {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  /** Newest first; the caller's own comes first on the first page, even if the service has kept nothing of it. */
  async list(own: OwnSignIn, { after, limit }: { after?: string | undefined; limit: number }) {
    const query = { userId: own.userId, ownSignInId: own.signInId, alive: this.#alive(), after, limit: limit + 1 }
    const found = await this.#options.store.read(listSignIns, query)
    if (after === undefined && found[0]?.signInId !== own.signInId) found.unshift(this.#listed(own))
    const items = found.slice(0, limit).map((one) => this.#display(one, own))
    // The own one has a place of its own: after it alone, the others begin with the newest.
    const last = items.at(-1)?.current ? lastId : (items.at(-1)?.id ?? null)
    return { items, next: found.length > limit ? last : null }
  }

  /**
   * Ends a sign-in of the user with its tokens; both are refused on this node when it resolves. With `disowned`, the password alone signs in
   * from that device only. Throws NOT_FOUND.
   */
  async end(own: OwnSignIn, { signInId, ...end }: End): Promise<void> {
    const { userId } = own
    const { at, revocationExpiresAt } = this.#moment()
    const isOwn = signInId === own.signInId && own.proof === 'access-token'
    const change = { ...end, userId, signInId, isOwn, at, revocationExpiresAt, alive: this.#alive() }
    if ((await this.#options.store.write(endSignIn, change)) === 'absent')
      throw new CarillonError('NOT_FOUND', 'There is no such session', {
        remedy: 'It may have ended; GET /api/me/sessions lists those that are open.',
      })
    this.#options.revocations.note({ userId, signInId, at, expiresAt: revocationExpiresAt })
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

  #moment() {
    const at = this.#options.now()
    return { at, revocationExpiresAt: at + revocationKeptForMs }
  }

  #alive(): AliveSignIns {
    const { sessions, now, chainMs } = this.#options
    return { sessions: sessions.liveBounds(), tokensSince: now() - chainMs + 1 }
  }

  #listed({ signInId, proof, userAgent, address, signedInAt: createdAt }: OwnSignIn): ListedSignIn {
    const variant = proof === 'session' ? 'stateful' : 'stateless'
    return { signInId, variant, device: null, userAgent, address, createdAt, lastSeenAt: this.#options.now() }
  }

  /** Times in milliseconds; `expiresAt`: when the sign-in ends at the latest. */
  #display({ signInId: id, variant, device, userAgent, ...seen }: ListedSignIn, own: OwnSignIn) {
    const { lifetimeMs, chainMs } = this.#options
    const expiresAt = seen.createdAt + (variant === 'stateful' ? lifetimeMs : chainMs)
    return { id, current: id === own.signInId, variant, device: device ?? deviceLabel(userAgent), ...seen, expiresAt }
  }
}
