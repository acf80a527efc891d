import { globSync } from 'node:fs'
import { join } from 'node:path'
import { Durations } from '../../basics/counts.ts'
import { nameOf, type ReadOperation, type Store, type WriteOperation } from '../store.ts'

type Operation<Input, Result> =
  | ReadOperation<[input: Input], Result>
  | WriteOperation<Input, Result>
type Run = (operation: unknown, ...input: unknown[]) => Promise<unknown>

/** Until the returned function is called. `run` runs the operation itself. */
export function replaceOperation<Input, Result>(
  store: Store,
  operation: Operation<Input, Result>,
  other: (input: NoInfer<Input>, run: () => Promise<NoInfer<Result>>) => Promise<NoInfer<Result>>,
): () => void {
  const before = { read: store.read, write: store.write }
  const replaced =
    (method: Run): Run =>
    (called, ...input) => {
      const run = () => method.call(store, called, ...input)
      return called === operation ? other(input[0] as Input, run as () => Promise<Result>) : run()
    }
  store.read = replaced(before.read as Run) as Store['read']
  store.write = replaced(before.write as Run) as Store['write']
  return () => {
    Object.assign(store, before)
  }
}

/** But for those that a test replaces. */
export function stubStore(): Store {
  return {
    read: (operation, ..._) => unexpected(operation),
    write: unexpected,
    history: '',
    holder: () => 1,
    onChange: () => () => {},
    onRecorded: () => () => {},
    failed: new Promise(() => {}),
    numbers: () => ({ commits: new Durations(), written: 0, waiting: 0 }),
    check: async () => {},
    close: async () => {},
  }
}

function unexpected(operation: Parameters<typeof nameOf>[0]): Promise<never> {
  return Promise.reject(new Error(`the test does not expect ${nameOf(operation)}`))
}

/** By name, with what several operations share. */
export async function exportedOperations(): Promise<Record<string, Operation<unknown, unknown>>> {
  const modules = await Promise.all(storeFiles().map((file) => import(file)))
  return Object.assign({}, ...modules)
}

function storeFiles(): string[] {
  const server = join(import.meta.dirname, '../..')
  return globSync('**/*.store.ts', { cwd: server }).map((file) => join(server, file))
}
