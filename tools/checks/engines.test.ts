// The version of Node that npm's `engine-strict` needs, as README.md, CONTRIBUTING.md and server/README.md say it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

type Locked = { engines?: { node?: string }; optional?: boolean; dev?: boolean }
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> }

const numberOf = (version: string) => {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  return major * 1e6 + minor * 1e3 + patch
}

/** For the forms of the lock file: `>=22.12.0`, `^22.17.0 || >=24.0.0`, `20 || >=22`, `*`. */
function accepts(range: string, version: string): boolean {
  return range.split('||').some((part) => {
    const [, operator = '', least = '0', most] = /^(\^|>=?|~)?\s*v?([\d.]+)?(?:.*<\s*([\d.]+))?/.exec(part.trim()) ?? []
    const isAbove = numberOf(version) >= numberOf(least) && (most === undefined || numberOf(version) < numberOf(most))
    return isAbove && (operator.startsWith('>') || least === '0' || least.split('.')[0] === version.split('.')[0])
  })
}

/** Packages that npm installs, and that refuse this Node. */
function refusing(version: string, includes: (path: string, locked: Locked) => boolean = () => true): string[] {
  return Object.entries(packages).flatMap(([path, locked]) => {
    const range = locked.engines?.node
    const isRefused = range !== undefined && locked.optional !== true && !accepts(range, version)
    return isRefused && includes(path, locked) ? [`${path} ${range}`] : []
  })
}

test('with engine-strict, the checkout needs Node 24 and the package Node 22.12; without, Node 20.19 is enough', () => {
  assert.deepEqual(refusing('24.0.0'), [])
  assert.notDeepEqual(refusing('22.18.0'), [])
  const isPublished = (path: string, { dev }: Locked) => path.startsWith('node_modules/') && dev !== true
  const ofDevelopment = ['@hey-api', '@sparticuz']
  const ofPackage = (version: string) =>
    refusing(version, isPublished).filter((path) => !ofDevelopment.some((name) => path.includes(name)))
  assert.deepEqual(ofPackage('22.12.0'), [])
  assert.notDeepEqual(ofPackage('22.11.0'), [])
  for (const file of ['README.md', 'CONTRIBUTING.md'])
    assert.match(
      readFileSync(file, 'utf8'),
      /Node 20\.19 or later can install (it|the checkout) \(with npm's `engine-strict`, Node 24\)/,
    )
  assert.match(readFileSync('server/README.md', 'utf8'), /With npm's `engine-strict`, installing needs Node 22\.12\./)
})
