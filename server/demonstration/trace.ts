// What the server does for one request of the demonstration: each call of a part of the service, with its duration. The parts are wrapped
// when a world is composed, so that the service itself has no code for it and no cost.
import { AsyncLocalStorage } from 'node:async_hooks'
import { nameOf } from '../store/operations.ts'
import type { Store } from '../store/store.ts'

/** `name`: part and method, such as `store.findSession`. `detail`: the kind of its result, never a value that may be a secret. */
export type Call = { name: string; detail: string; ms: number }

const requests = new AsyncLocalStorage<Call[]>()

/** Runs `serve`; every call of an observed part that it causes is added to `calls`. */
export function tracing(calls: Call[], serve: () => void): void {
  requests.run(calls, serve)
}

type Method = (...values: unknown[]) => unknown

/** The same part, whose methods note themselves while a request is traced. */
export function observed<Part extends object>(name: string, part: Part): Part {
  const methods = new Map<PropertyKey, Method>()
  return new Proxy(part, {
    get(target, key) {
      const value = Reflect.get(target, key, target)
      if (typeof value !== 'function' || typeof key === 'symbol') return value
      const method = methods.get(key) ?? noting(`${name}.${key}`, value.bind(target))
      methods.set(key, method)
      return method
    },
  })
}

function noting(name: string, method: Method): Method {
  return (...values) => noted(name, () => method(...values))
}

/** The store, whose operations note themselves while a request is traced. */
export function observedStore(store: Store): Store {
  const read: Store['read'] = (operation, ...input) =>
    noted(`store.${nameOf(operation)}`, () => store.read(operation, ...input))
  const write: Store['write'] = (operation, input) =>
    noted(`store.${nameOf(operation)}`, () => store.write(operation, input))
  return Object.setPrototypeOf({ read, write }, store)
}

function noted<Result>(name: string, run: () => Result): Result {
  const calls = requests.getStore()
  if (calls === undefined) return run()
  const call: Call = { name, detail: 'failed', ms: 0 }
  const place = calls.push(call)
  const from = performance.now()
  const end = (detail: string) => {
    call.ms = Math.round((performance.now() - from) * 1_000) / 1_000
    call.detail = name === 'accessTokens.verify' ? howVerified(detail, calls.slice(place)) : detail
  }
  const result = run()
  if (!(result instanceof Promise)) end(kindOf(result))
  else
    result.then(
      (value) => end(kindOf(value)),
      () => end('failed'),
    )
  return result
}

/** A key is looked up for a token whose signature this process has not checked yet, and that it has not issued itself. */
function howVerified(detail: string, after: readonly Call[]): string {
  const isNew = after.some(({ name }) => name === 'keys.find')
  return `${detail}, ${isNew ? 'signature' : 'remembered'}`
}

/** A word such as `done` is an outcome; any other text could be a secret. */
function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'none'
  if (Array.isArray(value)) return `${value.length} rows`
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'object') return 'found'
  return typeof value === 'string' && /^[a-z-]{1,20}$/.test(value) ? value : 'value'
}
