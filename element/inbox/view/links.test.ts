import assert from 'node:assert/strict'
import { test } from 'node:test'
import { safeLink } from './links.ts'

test('http, https and paths are followed, and nothing else, whatever a Markdown text or a page gives (C8, C9)', () => {
  for (const link of [
    '/',
    '/orders/7?x=1#y',
    '/a//b',
    'https://example.org',
    'HTTP://[::1]:8080/x?y@z',
    'https://bücher.example/ä',
  ])
    assert.equal(safeLink(link), link)
  const refused = [
    '',
    'orders/1',
    './x',
    '#x',
    '?x',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    'https:evil.example',
  ]
  const others = [
    'https:///evil.example',
    'https://ann@evil.example/',
    'https://a:b@evil.example',
    'javascript:alert(1)',
  ]
  for (const link of [
    ...refused,
    ...others,
    'data:text/html,x',
    'mailto:a@b',
    ' https://example.org',
  ])
    assert.equal(safeLink(link), undefined, JSON.stringify(link))
})
