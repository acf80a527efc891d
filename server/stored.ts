// The operations that are written once for both engines, by the names of their methods in store.ts.
import { auditReads, auditWrites } from './audit/audit.store.ts'
import { deliveryWrites } from './delivery/delivery.store.ts'
import { factorReads, factorWrites } from './factors/factors.store.ts'
import { guessReads, guessWrites } from './guessing/guesses.store.ts'
import { inboxReads } from './inbox/inbox.store.ts'
import { markWrites } from './inbox/marks.store.ts'
import { linkReads, linkWrites } from './links/links.store.ts'
import { producerReads, producerWrites } from './producers/producers.store.ts'
import { providerAccountReads, providerAccountWrites } from './providers/provider-accounts.store.ts'
import { sealedTextReads, sealedTextWrites } from './sealing/sealed-texts.store.ts'
import { sessionReads, sessionWrites } from './sessions/sessions.store.ts'
import { signInReads, signInWrites } from './sessions/sign-ins.store.ts'
import { signingKeyReads, signingKeyWrites } from './tokens/signing-keys.store.ts'
import { tokenReads, tokenWrites } from './tokens/tokens.store.ts'
import { erasureWrites } from './users/erasure.store.ts'
import { putUsersWrites } from './users/put-users.store.ts'
import { userChangeWrites } from './users/user-changes.store.ts'
import { userReads, userWrites } from './users/users.store.ts'

export const reads = {
  ...userReads,
  ...sessionReads,
  ...signInReads,
  ...tokenReads,
  ...auditReads,
  ...factorReads,
  ...providerAccountReads,
  ...linkReads,
  ...guessReads,
  ...producerReads,
  ...signingKeyReads,
  ...sealedTextReads,
  ...inboxReads,
}

export const writes = {
  ...userWrites,
  ...putUsersWrites,
  ...userChangeWrites,
  ...erasureWrites,
  ...sessionWrites,
  ...signInWrites,
  ...tokenWrites,
  ...auditWrites,
  ...factorWrites,
  ...providerAccountWrites,
  ...linkWrites,
  ...guessWrites,
  ...producerWrites,
  ...signingKeyWrites,
  ...sealedTextWrites,
  ...markWrites,
  ...deliveryWrites,
}
