// Tokens of other issuers (CARILLON_ISSUERS), which open what scope `inbox` opens. A verified token is kept in a bounded cache, as
// ours are, and then costs no read of the store. The service cannot revoke such a token; it can disable or delete the user.
import { type CryptoKey, compactVerify, errors } from 'jose'
import { auditEntry, serviceSource } from '../audit/entry.ts'
import { BoundedCache } from '../basics/bounded-cache.ts'
import { newId } from '../basics/ids.ts'
import type { IssuerSetting } from '../config/issuers.ts'
import type { Subject } from '../http/operation.ts'
import type { Store } from '../store/store.ts'
import type { SignIn } from '../tokens/read-token.ts'
import type { TokenRevocations } from '../tokens/revocations.ts'
import { SignatureChecks } from '../tokens/signature-checks.ts'
import type { Recogniser } from '../users/erased-ids.ts'
import { externalIdFault } from '../users/profile.ts'
import { addTokenUser } from '../users/put-users.store.ts'
import { findUserByExternalId, type User } from '../users/users.store.ts'
import { IssuerKeys } from './issuer-keys.ts'
import { type ReadForeignToken, readForeignToken } from './read-foreign-token.ts'

/** In characters: about 15,000 tokens of a usual provider. */
const maxVerified = 20_000_000
/** How long a verified token is used without another check. Revocations, also of a disabled or deleted user, are kept for longer. */
const checkedForMs = 5 * 60_000
/** In place of the id of a sign-in here, so that no revocation of a sign-in fits. */
const signInId = 'foreign'

type Dependencies = {
  issuers: readonly IssuerSetting[]
  store: Store
  revocations: Pick<TokenRevocations, 'isRevoked'>
  erased: Recogniser
  now: () => number
  /** Called at most once a minute for each issuer. */
  onFailure: (issuer: string, error: unknown) => void
}

type ForeignSubject = Subject & SignIn
/** `subject`: null if the token had no enabled user. */
type Verified = { subject: ForeignSubject | null; checkAgainAt: number }
type Signed = { token: string; key: CryptoKey; issuer: IssuerSetting }
/** One queue for each issuer, so that forged tokens of one do not delay the tokens of another. */
type Issuer = IssuerSetting & { keys: IssuerKeys; checks: SignatureChecks<Signed> }

export class ForeignTokens {
  readonly #dependencies: Dependencies
  readonly #issuers: ReadonlyMap<string, Issuer>
  readonly #verified = new BoundedCache<Verified>(maxVerified)

  constructor(dependencies: Dependencies) {
    const { issuers, now, onFailure } = dependencies
    this.#dependencies = dependencies
    this.#issuers = new Map(
      issuers.map((issuer) => {
        const keys = new IssuerKeys({ issuer, now, onFailure })
        return [issuer.issuer, { ...issuer, keys, checks: new SignatureChecks(isSigned) }]
      }),
    )
  }

  /** Reads the keys of every issuer, so that a wrong setting is in the log before the first token arrives. */
  async prefetch(): Promise<void> {
    await Promise.all(this.#issuers.values().map(({ keys }) => keys.prefetch()))
  }

  /** The user of a token that was verified before and can be used without another check; undefined for any other token. */
  cached(token: string): ForeignSubject | undefined {
    const known = this.#verified.get(token)
    if (known === undefined || known.subject === null) return undefined
    const { subject, checkAgainAt } = known
    const { now, revocations } = this.#dependencies
    const at = now()
    return at < checkAgainAt && at < subject.expiresAt && !revocations.isRevoked(subject) ? subject : undefined
  }

  /** The token's user, created if the setting says so. Null if the token is invalid, or without an enabled user. Throws as `IssuerKeys`. */
  async verify(token: string): Promise<ForeignSubject | null> {
    const { now } = this.#dependencies
    const read = readForeignToken(token, { issuers: this.#issuers, now: now() })
    if (read === null || externalIdFault(read.externalId) !== undefined) return null
    const known = this.#verified.get(token)
    const isChecked = known !== undefined && now() < known.checkAgainAt
    if (!isChecked && !(await this.#isGenuine(token, read))) return null
    // A token that was seen before brings no user back.
    const user = await this.#userOf(read, known === undefined)
    const subject = user && subjectOf(user, read.expiresAt)
    const checkAgainAt = isChecked ? known.checkAgainAt : now() + checkedForMs
    this.#verified.set(token, { subject, checkAgainAt }, token.length)
    return this.cached(token) ?? null
  }

  async #isGenuine(token: string, { issuer, header }: ReadForeignToken<Issuer>): Promise<boolean> {
    const key = await issuer.keys.find(header)
    if (key === null) return false
    // An earlier check in the queue may have had the same token.
    return issuer.checks.enqueue(async (check) => this.cached(token) !== undefined || check({ token, key, issuer }))
  }

  async #userOf({ issuer: from, externalId }: ReadForeignToken, mayCreate: boolean): Promise<User | null> {
    const { store, now, erased } = this.#dependencies
    const { application } = from
    const issuer = from.ownIds ? from.issuer : ''
    const found = await store.read(findUserByExternalId, { application, issuer, externalId })
    if (found !== undefined) return found.disabledAt === null ? found : null
    if (!from.createUsers || !mayCreate) return null
    const at = now()
    const userId = newId(at)
    const entry = auditEntry(serviceSource, { event: 'user-created', at, userId, detail: { issuer } })
    const user = { id: userId, externalId, application, issuer, at, entry, erased: await erased() }
    const created = await store.write(addTokenUser, user)
    return created?.disabledAt === null ? created : null
  }
}

/** The claims are checked already. */
function isSigned({ token, key, issuer }: Signed): Promise<boolean> {
  const refused = (error: unknown) => (error instanceof errors.JOSEError ? false : Promise.reject(error))
  return compactVerify(token, key, { algorithms: [...issuer.algorithms] }).then(() => true, refused)
}

function subjectOf(user: User, expiresAt: number): ForeignSubject {
  const { id: userId, username, credentialGeneration: generation } = user
  const signIn = { userId, username, signInId, signedInAt: 0, confirmedAt: 0, generation }
  return { ...signIn, proof: 'access-token', scope: 'inbox', expiresAt }
}
