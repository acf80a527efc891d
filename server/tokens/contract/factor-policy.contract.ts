// The promise about the rules of second factors.
import assert from 'node:assert/strict'
import { at, type PromiseOf } from '../../contract/world.ts'
import { ruleStarts, startRules } from '../factor-policy.store.ts'

export function policyPromises(promise: PromiseOf): void {
  promise(
    'a rule keeps its first start, also if several processes start it at the same time (A27)',
    async (world) => {
      const { store } = world
      assert.deepEqual(await store.read(ruleStarts), [])
      const rules = ['required']
      await Promise.all([1, 2, 3].map(() => store.write(startRules, { rules, at: at(1) })))
      const later = await store.write(startRules, { rules: [...rules, 'passkey'], at: at(9) })
      const expected = [
        { rule: 'passkey', startedAt: at(9) },
        { rule: 'required', startedAt: at(1) },
      ]
      assert.deepEqual(later, expected)
      assert.deepEqual(await store.read(ruleStarts), expected)
    },
  )
}
