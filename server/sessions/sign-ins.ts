// Where is a user signed in? Lists the user's sign-ins of both variants, and ends one, all others, or one that was not the user's. How a proof
// ends by itself is in sessions.ts and tokens/access-token.ts.
import { auditEntry, deviceLabel, type RequestSource } from '../audit/entry.ts'
import { CarillonError, notAuthenticated } from '../basics/errors.ts'
import { madeAt } from '../basics/ids.ts'
import type { Subject } from '../http/operation.ts'
import type { Store } from '../store/store.ts'
import { revocationKeptForMs } from '../tokens/access-token.ts'
import type { TokenRevocations } from '../tokens/revocations.ts'
import { ownSignIn } from './own-sign-in.ts'
import type { SeenDevice } from './sessions.store.ts'
import type { Sessions } from './sessions.ts'
import { type AliveSignIns, endOtherSignIns, endSignIn, type ListedSignIn, listSignIns } from './sign-ins.store.ts'

/** The caller, whose own sign-in is one of the user's, and where the request comes from. */
export type Own = { caller: Subject; source: RequestSource }

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

export class SignIns {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  /** Newest first; the caller's own comes first on the first page, even if the service has kept nothing of it. */
  async list(own: Own, { after, limit }: { after?: string | undefined; limit: number }) {
    const { userId, signInId: ownSignInId } = own.caller
    const query = { userId, ownSignInId, alive: this.#alive(), after, limit: limit + 1 }
    const found = await this.#options.store.read(listSignIns, query)
    if (after === undefined && found[0]?.signInId !== ownSignInId) found.unshift(this.#listed(own))
    const items = found.slice(0, limit).map((one) => this.#display(one, ownSignInId))
    // The own one has a place of its own: after it alone, the others begin with the newest.
    const last = items.at(-1)?.current ? lastId : (items.at(-1)?.id ?? null)
    return { items, next: found.length > limit ? last : null }
  }

  /**
   * Ends a sign-in of the user with its tokens; both are refused on this node when it resolves. With `disowned`, the caller's device, the
   * password alone signs in from that device only. Throws NOT_FOUND.
   */
  async end({ caller, source }: Own, signInId: string, disowned?: SeenDevice): Promise<void> {
    const { userId } = caller
    const { at, revocationExpiresAt } = this.#moment()
    const isOwn = signInId === caller.signInId && caller.proof === 'access-token'
    const event = disowned === undefined ? 'session-ended' : 'sign-in-disowned'
    const audit = [auditEntry(source, { event, at, userId, signInId })]
    const change = { userId, signInId, isOwn, at, revocationExpiresAt, audit, ...(disowned && { disowned }) }
    if ((await this.#options.store.write(endSignIn, { ...change, alive: this.#alive() })) === 'absent')
      throw new CarillonError('NOT_FOUND', 'There is no such session', {
        remedy: 'It may have ended; GET /api/me/sessions lists those that are open.',
      })
    this.#options.revocations.note({ userId, signInId, at, expiresAt: revocationExpiresAt })
  }

  /** Ends every other sign-in of the user, and every token that was issued for the user. Throws UNAUTHORIZED if the caller's has ended. */
  async endOthers({ caller, source }: Own): Promise<void> {
    const { store, revocations } = this.#options
    const { userId, signInId } = caller
    const moment = this.#moment()
    const audit = [auditEntry(source, { event: 'sessions-ended', at: moment.at, userId, signInId })]
    const outcome = await store.write(endOtherSignIns, { userId, ...ownSignIn(caller), ...moment, audit })
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

  #listed({ caller: { signInId, proof }, source: { userAgent, address } }: Own): ListedSignIn {
    const variant = proof === 'session' ? 'stateful' : 'stateless'
    const [createdAt, lastSeenAt] = [madeAt(signInId), this.#options.now()]
    return { signInId, variant, device: null, userAgent, address, createdAt, lastSeenAt }
  }

  /** Times in milliseconds; `expiresAt`: when the sign-in ends at the latest. */
  #display({ signInId: id, variant, device, userAgent, ...seen }: ListedSignIn, ownSignInId: string) {
    const { lifetimeMs, chainMs } = this.#options
    const expiresAt = seen.createdAt + (variant === 'stateful' ? lifetimeMs : chainMs)
    return { id, current: id === ownSignInId, variant, device: device ?? deviceLabel(userAgent), ...seen, expiresAt }
  }
}
