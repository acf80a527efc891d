// A lint rule: no regular expression of product code takes time that grows faster than the text that it reads (R10).
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { test } from 'node:test'
import { isTest } from './product-files.ts'
import { beginsAgain, beginsUnbounded, isAmbiguous, slowPartsOf } from './regular-expressions.ts'
import { type Lang, patternsIn, type SourcePattern } from './source-patterns.ts'

const generated = ['node_modules', 'dist', 'public', 'bundle', '.compile-cache', 'data']

/** A pattern may contain what is no constant of the file; these stand in for it. */
const standIns: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'demonstration/page/proof/exchange-view.ts': { cookieName: '__Host-carillon' },
  'server/store/migrations.ts': { engine: 'sqlite', other: 'postgres' },
}

/** The scripts that build the pages read our own files, so they are left out. */
function productFiles(): string[] {
  const files = globSync('{client,demonstration,element,pages,server}/**/*.{ts,tsx,js}', {
    exclude: (name) => generated.includes(name),
  })
  return files.filter((file) => !isTest(file) && !/\.d\.ts$|\/build\.js$/.test(file))
}

function reasonsAgainst(found: readonly SourcePattern[]): string[] {
  return found.flatMap(({ line, pattern, flags }) => {
    if (pattern === undefined) return `${line}: ${unreadable}`
    return slowPartsOf(pattern, flags).map((reason) => `${line}: /${pattern}/ ${reason}`)
  })
}

const unreadable = 'write the pattern as a literal, or of constants of the file'

test('no regular expression of product code takes time that grows faster than the text (R10)', () => {
  let read = 0
  const refused = productFiles().flatMap((file) => {
    const source = readFileSync(file, 'utf8')
    const lang = extname(file).slice(1) as Lang
    const found = patternsIn(source, lang, standIns[file.replaceAll('\\', '/')])
    read += found.length
    return reasonsAgainst(found).map((reason) => `${file}:${reason}`)
  })
  assert.ok(read > 200, `only ${read} patterns were found: this test looks in the wrong place`)
  assert.deepEqual(refused, [])
})

test('the rule refuses adjacent unbounded repetitions of the same characters, and an unanchored pattern that begins with one (R10)', () => {
  const slow = {
    [beginsUnbounded]: [
      /\s*;\s*/,
      /\s+$/,
      /(?:a|b)+c/,
      /x?[ \t]{2,}y/,
      /^a|[^a]*$/,
      /(\s*)x/g,
      /(?=a)\w+;/,
      /(?:ab)*c/,
      /.*?@/,
    ],
    [isAmbiguous]: [
      /^[ \t]*([^;]*)$/,
      /^\s*\s*x/,
      /^\d+\d*$/,
      /^[\da-f:.]+:[\da-f:.]*\]/,
      /^(a+)+$/,
      /^(?:a|[a-z])*[a-f]*!/,
      /^\s*(?:;?\s*)x/,
      /^a*(?:b?)(?=a*c)/,
      /^(?:x[ab]*)?b+c/,
      /^(\w+\s?)*$/,
      /^[\u0300-\u0310]+\p{Mn}*x/u,
      /^.{0,5000}.*x/,
      /^(?:\w\w)*\w*$/,
      /^(?:ab)*(?:ab)*c$/,
      /^(?:a|b|ab)*$/,
      /^(?:ab?|ac)*$/,
    ],
    [beginsAgain]: [/\[[^\]]+\]/, /;.*@/, /\*\*(\S[^\n]*?)\*\*/, /#.*$/, /"(?:a|[^x])*x/g],
  }
  for (const [reason, patterns] of Object.entries(slow))
    for (const { source, flags } of patterns)
      assert.deepEqual(slowPartsOf(source, flags), [reason], source)
})

test('the rule lets patterns pass whose repetitions cannot share a text (R10)', () => {
  const quick = [
    /^\s*([a-z-]{1,35})(?:\s*;\s*q=([\d.]{1,5}))?\s*$/i,
    /"[^"\\]*(?:\\.[^"\\]*)*"?/gs,
    /^(?:\\.|[^"\\])*"$/,
    /(?:^|;)[ \t]*name[ \t]*=([^;]*)/g,
    /[ \t]*(?:W\/)?("[^"]*")(?=[ \t]*(?:,|$))/gy,
    /^[a-z]+(\.[a-z]+)*$/,
    /^\[(?=[\da-f.]*:)([\da-f:.]+)\]/,
    /-.*/,
    /\d{1,3}x/,
    /^[\s\S]*$/,
    /^.*[a-z]/s,
    /^(?:UNAUTHORIZED|UNAVAILABLE|FORBIDDEN)*$/,
    /^(?:ab)*(?:cb)*$/,
  ]
  for (const { source, flags } of quick) assert.deepEqual(slowPartsOf(source, flags), [], source)
})

test('the rule reads literals, and patterns that are made of constants, and refuses one that it cannot read (R10)', () => {
  const made = `
    const part = String.raw\`\\s*\`
    const known = /\\s+/
    const whole = (...raw: Raw) => new RegExp(\`^\${String.raw(...raw)}$\`)
    const patterns = [
      /\\s*x/,
      new RegExp('\\\\s*;'),
      new RegExp(\`\${part};\`, 'u'),
      RegExp(known.source + ''),
      new RegExp(known.source),
      whole\`(\${part}\\s*)\`,
      t.string({ pattern: '\\\\s*@' }),
      (text: string) => new RegExp(text),
      (text: string) => new RegExp(\`^\${RegExp.escape(text)}$\`),
    ]`
  const found = reasonsAgainst(patternsIn(made, 'ts')).map((text) => text.replace(/\/ .*/, '/'))
  assert.deepEqual(
    found.toSorted(),
    [
      '3: /\\s+/',
      '6: /\\s*x/',
      '7: /\\s*;/',
      '8: /\\s*;/',
      `9: ${unreadable}`,
      '10: /\\s+/',
      '11: /^(\\s*\\s*)$/',
      '12: /\\s*@/',
      `13: ${unreadable}`,
    ].toSorted(),
  )
})
