// The server's calls for one request. The parts are wrapped when a world is composed, so the
// service has neither code nor cost for it.
import { AsyncLocalStorage } from 'node:async_hooks'
import { nameOf, type Store } from '../../server/store/store.ts'
import { takenBack } from '../../server/store/unavailable.ts'
import type { Step } from './api.ts'

export const traced = new AsyncLocalStorage<Step[]>()

export function observed<Part extends object>(name: string, part: Part): Part {
  return new Proxy(part, {
    get(target, key) {
      const value = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      const method = `${name}.${String(key)}`
      return (...values: unknown[]) =>
        noted(
          method,
          () => value.apply(target, values),
          method === 'keys.find' ? { kid: values[0] as string } : {},
        )
    },
  })
}

/** In an outage, operations reject as if the system refused. */
export function observedStore(store: Store, isAway: () => boolean): Store {
  const unlessAway = <Result>(run: () => Promise<Result>) =>
    isAway() ? Promise.reject(takenBack(new Error('an outage of the demonstration'))) : run()
  const read: Store['read'] = (operation, ...input) =>
    noted(`store.${nameOf(operation)}`, () => unlessAway(() => store.read(operation, ...input)))
  const write: Store['write'] = (operation, input) =>
    noted(`store.${nameOf(operation)}`, () => unlessAway(() => store.write(operation, input)))
  return Object.setPrototypeOf({ read, write, check: () => unlessAway(() => store.check()) }, store)
}

export function noted<Result>(name: string, run: () => Result, more: Partial<Step> = {}): Result {
  const steps = traced.getStore()
  if (steps === undefined) return run()
  const step: Step = { name, detail: 'failed', ...more }
  const place = steps.push(step)
  const end = (detail: string) => {
    step.detail = detail
    if (name === 'signatures.enqueue') nameSignature(step, steps.slice(0, place))
  }
  const result = run()
  if (result instanceof Promise) void result.then(kindOf, () => 'failed').then(end)
  else end(kindOf(result))
  return result
}

function nameSignature(step: Step, before: readonly Step[]): void {
  const { kid } = before.findLast(({ name }) => name === 'keys.find') ?? {}
  const detail = step.detail === 'found' ? 'valid' : 'invalid'
  Object.assign(step, { name: 'signatures.check', detail, algorithm: 'EdDSA', kid })
}

const verdicts = ['valid', 'invalid', 'expired']

/** Other values could be secret. */
function kindOf(value: unknown): string {
  if (verdicts.includes(value as string)) return value as string
  return value === undefined || value === null || value === false ? 'none' : 'found'
}
