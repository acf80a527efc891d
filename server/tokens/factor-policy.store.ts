// Since when does each rule about second factors hold? A rule that was off keeps its first start.
import { all, type Read, send, type Write } from '../store/statements.ts'

type RuleStart = { rule: string; startedAt: number }

export function* ruleStarts(): Read<RuleStart[]> {
  return yield* all<RuleStart>`select rule, started_at as "startedAt" from factor_rule order by rule`
}

/** Notes `at` as the start unless a rule has begun. Returns when each rule began. */
export function* startRules({
  rules,
  at,
}: {
  rules: readonly string[]
  at: number
}): Write<RuleStart[]> {
  for (const rule of rules)
    yield* send`insert into factor_rule (rule, started_at) values (${rule}, ${at}) on conflict (rule) do nothing`
  return yield* ruleStarts()
}
