import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskedCookies, onlyCookies } from './cookies.ts'

const names = new Set(['demo', 'demo-device'])

test('a world gets the pairs of its own cookies and no others, however they are written (S14)', () => {
  for (const [field, own] of [
    ['carillon=secret; demo=a; theme=dark; demo-device=b', 'demo=a; demo-device=b'],
    ['demo=a', 'demo=a'],
    ['carillon=secret;demo=a=b;', 'demo=a=b'],
    ['demo =a; xdemo=secret; demo.=secret; Demo=secret', 'demo =a'],
    ['\xa0demo=secret; demo\xa0=secret; secret', undefined],
    ['demo', undefined],
    ['', undefined],
  ] as const)
    assert.equal(onlyCookies(field, names), own, field)
})

test('the transcript has the field as it was sent, but for the values of other cookies (S14)', () => {
  for (const [field, shown] of [
    ['carillon=secret; demo=a;  theme=dark', 'carillon=…; demo=a;  theme=…'],
    ['demo =a;demo-device=b', 'demo =a;demo-device=b'],
    ['\xa0demo=secret; secret; demo=c=d', '\xa0demo=…; …; demo=c=d'],
    ['carillon=a=b', 'carillon=…'],
  ] as const)
    assert.equal(maskedCookies(field, names), shown)
})
