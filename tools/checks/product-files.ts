// Tests, contract suites and code for tests: what does not count as product code.
export function isTest(path: string): boolean {
  return /\.(test|contract)\.ts$|\/(contract|testing)\//.test(path.replaceAll('\\', '/'))
}
