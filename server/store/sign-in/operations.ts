// The operations that are written once for both engines, by the names of their methods in store.ts.
import { auditReads, auditWrites } from './audit.ts'
import { erasureWrites } from './erasure.ts'
import { factorReads, factorWrites } from './factors.ts'
import { guessReads, guessWrites } from './guesses.ts'
import { linkReads, linkWrites } from './links.ts'
import { producerReads, producerWrites } from './producers.ts'
import { providerAccountReads, providerAccountWrites } from './provider-accounts.ts'
import { putUsersWrites } from './put-users.ts'
import { sealedTextReads, sealedTextWrites } from './sealed-texts.ts'
import { sessionReads, sessionWrites } from './sessions.ts'
import { signInReads, signInWrites } from './sign-ins.ts'
import { signingKeyReads, signingKeyWrites } from './signing-keys.ts'
import { tokenReads, tokenWrites } from './tokens.ts'
import { userChangeWrites } from './user-changes.ts'
import { userReads, userWrites } from './users.ts'

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
}
