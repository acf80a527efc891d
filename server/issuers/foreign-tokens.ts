// Foreign tokens open what scope `inbox` opens. The service cannot revoke one, but can disable its
// user.
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
import type { Recogniser } from '../users/erasure/erased-ids.ts'
import { externalIdFault } from '../users/profile.ts'
import { addTokenUser } from '../users/put-users.store.ts'
import { findUserByExternalId, type User } from '../users/users.store.ts'
import { IssuerKeys } from './issuer-keys.ts'
import { type ReadForeignToken, readForeignToken } from './read-foreign-token.ts'

/** In characters: about 15,000 tokens. */
const maxVerified = 20_000_000
/** Revocations are kept for longer. */
const checkedForMs = 5 * 60_000
const signInId = 'foreign'

type Dependencies = {
  issuers: readonly IssuerSetting[]
  store: Store
  revocations: Pick<TokenRevocations, 'isRevoked'>
  erased: Recogniser
  now: () => number
  onFailure: (issuer: string, error: unknown) => void
}

type ForeignSubject = Subject & SignIn
type Verified = { subject: ForeignSubject | null; checkAgainAt: number }
type Signed = { token: string; key: CryptoKey; issuer: IssuerSetting }
/** One issuer's forged tokens do not delay another's. */
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

  /** A wrong setting is then in the log before the first token. */
  async prefetch(): Promise<void> {
    await Promise.all(this.#issuers.values().map(({ keys }) => keys.prefetch()))
  }

  cached(token: string): ForeignSubject | undefined {
    const known = this.#verified.get(token)
    if (known === undefined || known.subject === null) return undefined
    const { subject, checkAgainAt } = known
    const { now, revocations } = this.#dependencies
    const at = now()
    return at < checkAgainAt && at < subject.expiresAt && !revocations.isRevoked(subject)
      ? subject
      : undefined
  }

  /** Null if the token is invalid, or without an enabled user. Throws as `IssuerKeys`. */
  async verify(token: string): Promise<ForeignSubject | null> {
    const { now } = this.#dependencies
    const read = readForeignToken(token, { issuers: this.#issuers, now: now() })
    if (read === null || externalIdFault(read.externalId) !== undefined) return null
    const known = this.#verified.get(token)
    const isChecked = known !== undefined && now() < known.checkAgainAt
    if (!isChecked && !(await this.#isGenuine(token, read))) return null
    // A token seen before brings no erased user back.
    const user = await this.#userOf(read, known === undefined)
    const subject = user && subjectOf(user, read.expiresAt)
    const checkAgainAt = isChecked ? known.checkAgainAt : now() + checkedForMs
    this.#verified.set(token, { subject, checkAgainAt }, token.length)
    return this.cached(token) ?? null
  }

  async #isGenuine(token: string, { issuer, header }: ReadForeignToken<Issuer>): Promise<boolean> {
    const key = await issuer.keys.find(header)
    if (key === null) return false
    return issuer.checks.enqueue(
      async (check) => this.cached(token) !== undefined || check({ token, key, issuer }),
    )
  }

  async #userOf(
    { issuer: from, externalId }: ReadForeignToken,
    mayCreate: boolean,
  ): Promise<User | null> {
    const { store, now, erased } = this.#dependencies
    const { application } = from
    const issuer = from.ownIds ? from.issuer : ''
    const found = await store.read(findUserByExternalId, { application, issuer, externalId })
    if (found !== undefined) return found.disabledAt === null ? found : null
    if (!from.createUsers || !mayCreate) return null
    const at = now()
    const userId = newId(at)
    const entry = auditEntry(serviceSource, {
      event: 'user-created',
      at,
      userId,
      detail: { issuer },
    })
    const user = { id: userId, externalId, application, issuer, at, entry, erased: await erased() }
    const created = await store.write(addTokenUser, user)
    return created?.disabledAt === null ? created : null
  }
}

function isSigned({ token, key, issuer }: Signed): Promise<boolean> {
  const refused = (error: unknown) =>
    error instanceof errors.JOSEError ? false : Promise.reject(error)
  return compactVerify(token, key, { algorithms: [...issuer.algorithms] }).then(() => true, refused)
}

function subjectOf(user: User, expiresAt: number): ForeignSubject {
  const { id: userId, username, credentialGeneration: generation } = user
  const signIn = { userId, username, signInId, signedInAt: 0, confirmedAt: 0, generation }
  return { ...signIn, proof: 'access-token', scope: 'inbox', expiresAt }
}
