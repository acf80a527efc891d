// For tests: other functions in place of a store's operations.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nameOf, type ReadOperation, type Store, type WriteOperation } from '../store.ts'

type Operation<Input, Result> = ReadOperation<[input: Input], Result> | WriteOperation<Input, Result>
type Run = (operation: unknown, ...input: unknown[]) => Promise<unknown>

/** Runs `other` in place of `operation`, until the returned function is called. `run` runs the operation itself. */
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

/** A store whose operations fail, but those that a test replaces. */
export function stubStore(): Store {
  return {
    read: (operation, ..._) => unexpected(operation),
    write: unexpected,
    history: '',
    onChange: () => () => {},
    onRecorded: () => () => {},
    failed: new Promise(() => {}),
    check: async () => {},
    close: async () => {},
  }
}

function unexpected(operation: Parameters<typeof nameOf>[0]): Promise<never> {
  return Promise.reject(new Error(`the test does not expect ${nameOf(operation)}`))
}

/** Every exported function and form of the rooms' files *.store.ts by its name: the operations, and what several of them share. */
export async function exportedOperations(): Promise<Record<string, Operation<unknown, unknown>>> {
  const modules = await Promise.all(storeFiles().map((file) => import(file)))
  return Object.assign({}, ...modules)
}

/** The names of the exported operations, and of what several of them share. */
export function operationNames(...kinds: ('Read' | 'Write')[]): string[] {
  const text = storeFiles()
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
  const stored = Array.from(text.matchAll(/^export function\* (\w+)\([\s\S]*?\): (Read|Write)</gm))
  const own = Array.from(text.matchAll(/^export const (\w+): (Read|Write)Forms</gm))
  const rotating = Array.from(text.matchAll(/^export const (\w+) = rotating\([\s\S]*?\): (Write)</gm))
  return [...stored, ...own, ...rotating].flatMap(([, name = '', kind]) =>
    kinds.some((one) => one === kind) ? name : [],
  )
}

function storeFiles(): string[] {
  const server = join(import.meta.dirname, '../..')
  return globSync('*/*.store.ts', { cwd: server }).map((file) => join(server, file))
}
