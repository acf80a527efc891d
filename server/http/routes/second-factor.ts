// The second step of a sign-in. `continueSignIn` follows the first one: it ends the sign-in, or demands a second factor, if the user
// has one. POST /login/second-factor then ends it.
import { secondFactorRequired } from '../../errors.ts'
import { auditEntry } from '../../sign-in/audit/entry.ts'
import { makeChallenge } from '../../sign-in/factors/challenges.ts'
import { offeredFactors } from '../../sign-in/factors/factors.ts'
import type { User } from '../../store/store.ts'
import type { Dependencies } from '../dependencies.ts'
import { type Exchange, finishSignIn, type SignInFacts, type Variant } from './finish-sign-in.ts'

/** The purpose of its challenge, and what the challenge says of the first step. */
const purpose = 'second-factor'
type FirstStep = { variant: Variant; generation: number }

/** For a user whose password was right. Throws SECOND_FACTOR_REQUIRED if the user has a factor. */
export async function continueSignIn(
  dependencies: Dependencies,
  user: User,
  facts: SignInFacts,
  exchange: Exchange,
): Promise<object> {
  const { factors } = dependencies
  const offered = offeredFactors(await factors.store.factorsOf(user.id))
  if (offered.length === 0) return finishSignIn(dependencies, user, facts, exchange)
  const { source, method, variant } = facts
  const detail = { variant, method }
  const entry = auditEntry(source, { event: 'second-factor-required', at: factors.now(), userId: user.id, detail })
  const data: FirstStep = { variant, generation: user.credentialGeneration }
  const challenge = await makeChallenge(factors, { userId: user.id, purpose, data, audit: [entry] })
  throw secondFactorRequired({ challenge, factors: offered })
}
