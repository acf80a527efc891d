// CARILLON_SECOND_FACTOR: which sign-ins open everything, and from when do others only set a factor
// up? The proof itself says it: no request reads the store.
import { iso } from '../basics/clock.ts'
import { madeAt } from '../basics/ids.ts'
import type { ProvedFactor } from '../http/operation.ts'
import type { Store } from '../store/store.ts'
import { ruleStarts, startRules } from './factor-policy.store.ts'

type FactorRule = 'optional' | 'required' | 'passkey'

type RuledSignIn = { userId: string; factor?: ProvedFactor | undefined }

type Options = { store: Store; now: () => number; rule: FactorRule; graceMs: number }
/** When the rules began: about sign-ins without a factor, about factors other than passkeys. */
type Begun = { required: number; passkey: number }

export class FactorPolicy {
  readonly rule: FactorRule
  readonly #options: Options
  readonly #begun: Begun

  private constructor(options: Options, begun: Begun) {
    this.rule = options.rule
    this.#options = options
    this.#begun = begun
  }

  /** `passkey` demands a factor, too. A user without any has the grace of the earlier rule. */
  static async open(options: Options): Promise<FactorPolicy> {
    const { store, now, rule } = options
    const begun: Begun = { required: Number.POSITIVE_INFINITY, passkey: Number.POSITIVE_INFINITY }
    if (rule === 'optional') return new FactorPolicy(options, begun)
    const rules = rule === 'passkey' ? ['required', 'passkey'] : ['required']
    // During a move the database is read-only.
    const known = await store.read(ruleStarts)
    const isKnown = rules.every((name) => known.some((one) => one.rule === name))
    for (const one of isKnown ? known : await store.write(startRules, { rules, at: now() }))
      begun[one.rule as keyof Begun] = one.startedAt
    return new FactorPolicy(options, begun)
  }

  /** From then on the sign-in only sets a factor up; infinite if it satisfies the rule. */
  limitedFrom({ userId, factor }: RuledSignIn): number {
    if (this.rule === 'optional' || factor === 'phr') return Number.POSITIVE_INFINITY
    if (factor === 'mfa' && this.rule === 'required') return Number.POSITIVE_INFINITY
    const begun = factor === undefined ? this.#begun.required : this.#begun.passkey
    return Math.max(begun, madeAt(userId)) + this.#options.graceMs
  }

  demandOn(signIn: RuledSignIn) {
    const from = this.limitedFrom(signIn)
    if (from === Number.POSITIVE_INFINITY) return undefined
    const setupOnly = this.#options.now() >= from
    const needsLink = setupOnly && signIn.factor === undefined
    return { by: iso(from), setupOnly, passkeyOnly: this.rule === 'passkey', needsLink }
  }
}

export function strongest(
  one: ProvedFactor | undefined,
  other: ProvedFactor | undefined,
): ProvedFactor | undefined {
  return one === 'phr' || other === 'phr' ? 'phr' : (one ?? other)
}
