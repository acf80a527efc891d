import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contrast, themeCss } from './theme.ts'

const colourOf = (text: string) =>
  [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16)) as never

test('text in any accent colour, and on it, has a contrast of at least 4.5 in both themes', () => {
  for (const accent of [
    '#000000',
    '#ffffff',
    '#ffff00',
    '#0000ff',
    '#808080',
    '#0a7d4f',
    '#ff0000',
    '#14151a',
  ]) {
    const [light = '', dark = '', onLight = '', onDark = ''] =
      themeCss(accent).match(/#[\da-f]{3,6}/g) ?? []
    const long = (text: string) => (text.length === 4 ? text.replaceAll(/[\da-f]/g, '$&$&') : text)
    for (const [one, other] of [
      [light, '#ffffff'],
      [dark, '#14151a'],
      [light, long(onLight)],
      [dark, long(onDark)],
    ] as const)
      assert.ok(contrast(colourOf(one), colourOf(other)) >= 4.5, `${accent}: ${one} and ${other}`)
  }
})

test('an accent colour that is readable stays as it is', () => {
  assert.match(themeCss('#0a7d4f'), /light-dark\(#0a7d4f,/)
})
