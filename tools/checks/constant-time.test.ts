// Checks that product code compares secrets, hashes and signatures only by server/sealing/secrets.ts. An ordinary
// comparison ends at the first difference, so its duration shows how much of a guess is right. It reads the source as text.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOf, productFiles } from './product-files.ts'

const home = 'server/sealing/secrets.ts'

/** Files that compare hashes which are not secret, with the reason. */
const exceptions: Record<string, string> = {
  'server/store/postgres/schema/functions.ts': 'the hash of a database function, whose text is public',
  'server/factors/passkeys/ceremonies.ts': 'the hash of the relying party, whose name is public',
  'server/delivery/delivery.store.ts': 'the hash of a body that the same producer sent',
}

const secret = /secret|hash|token|signature|digest|sha256|password|(^|\W|[a-z])mac\b/i
/** Comparisons of presence, type or length, which show nothing about a guess. */
const harmless = /^(undefined|null|true|false|''|\d+)$|\.length$/
const operand = String.raw`[\w.?!#]+(?:\([^()]*\))?(?:\.\w+)*|''`
const comparisons = [
  new RegExp(String.raw`(${operand})\s*[!=]==?\s*(${operand})`, 'g'),
  new RegExp(String.raw`(${operand})\.(?:equals|compare|localeCompare)\(([^()]*)\)`, 'g'),
  /(Buffer)\.compare\(([^()]*)\)/g,
]

/** The comparisons of secrets in `code`. */
function comparedIn(code: string): string[] {
  const withoutTexts = code.replace(/'(?:[^'\\\n]|\\.)*'/g, "''")
  const found = comparisons.flatMap((form) => [...withoutTexts.matchAll(form)])
  const isSecret = ([, a = '', b = '']: RegExpExecArray) => secret.test(a) || secret.test(b)
  const isHarmless = ([, a = '', b = '']: RegExpExecArray) => harmless.test(a) || harmless.test(b)
  return found.filter((one) => isSecret(one) && !isHarmless(one)).map(([whole]) => whole)
}

test('product code compares secrets in constant time only (P4)', () => {
  assert.ok(productFiles.includes(home), 'secrets.ts was not found: this test looks in the wrong place.')
  const breaches = productFiles.flatMap((path) => {
    const code = codeOf(path)
    const imported = path !== home && code.includes('timingSafeEqual') ? ['timingSafeEqual'] : []
    const compared = path === home || path in exceptions ? [] : comparedIn(code)
    return [...imported, ...compared].map((what) => `${path}: ${what}. Call equalSecrets (${home}).`)
  })
  assert.deepEqual(breaches, [])
})

test('every exception is still needed', () => {
  for (const path of Object.keys(exceptions))
    assert.notDeepEqual(comparedIn(codeOf(path)), [], `${path} no longer compares a hash`)
})
