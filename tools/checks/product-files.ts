// The product code of the server, as text, for the checks that read it: no tests, no contract suites, no code for tests.
import { globSync } from 'node:fs'

export function isTest(path: string): boolean {
  return /\.(test|contract)\.ts$|\/(contract|testing)\//.test(path)
}

/** The paths of the TypeScript files of `server/`, from the root, with `/` as the separator. */
export const productFiles: readonly string[] = globSync('server/**/*.ts')
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !isTest(path))

/** A comment that begins in the middle of a line stays only if it is a block comment. */
export function withoutComments(text: string): string {
  return text.replace(/^\s*\/\*[\s\S]*?\*\//gm, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}
