// tests/e2e/element/ checks the styles in a browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bellStyles } from './bell-styles.ts'
import { inboxStyles } from './inbox-styles.ts'
import { tokens } from './tokens.ts'

const css = [...bellStyles.map(({ cssText }) => cssText), inboxStyles].join('\n')
const properties =
  'accent background text muted border hover unread badge-background badge-text radius font width max-height shadow focus'

/** Returns the value in the light and in the dark theme. */
const colours = new Map(
  [
    ...tokens.cssText.matchAll(
      /var\(--carillon-([\w-]+), (?:light-dark\((#\w+), (#\w+)\)|(#\w+))\)/g,
    ),
  ].map(
    ([, name = '', light = '', dark = '', both = '']) =>
      [name, [light || both, dark || both]] as const,
  ),
)

/** Mixes as a browser computes `color-mix`. */
function mixed(part: number, theme: 0 | 1): string {
  const channels = (name: string) => {
    const colour = colours.get(name)?.[theme] ?? ''
    const digits = colour.length === 4 ? colour.slice(1).replace(/./g, '$&$&') : colour.slice(1)
    return [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16))
  }
  const ground = channels('background')
  const sums = channels('accent').map((one, at) =>
    Math.round(one * part + (ground[at] ?? 0) * (1 - part)),
  )
  return `#${sums.map((sum) => sum.toString(16).padStart(2, '0')).join('')}`
}

const hoverPart =
  Number(/color-mix\(in srgb, var\(--_accent\) (\d+)%/.exec(tokens.cssText)?.[1]) / 100
colours.set('hover', [mixed(hoverPart, 0), mixed(hoverPart, 1)])

/** WCAG 2.2: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
function luminance(colour: string): number {
  const digits = colour.length === 4 ? colour.slice(1).replace(/./g, '$&$&') : colour.slice(1, 7)
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(digits.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

test('in both themes, text has a contrast of 4.5:1 on each background that it is on', () => {
  const grounds = ['background', 'hover']
  const pairs = ['text', 'muted', 'accent'].flatMap((text) =>
    grounds.map((ground) => [text, ground] as const),
  )
  for (const [text, ground] of [...pairs, ['badge-text', 'badge-background'] as const])
    for (const theme of [0, 1]) {
      const ratio = contrast(colours.get(text)?.[theme] ?? '', colours.get(ground)?.[theme] ?? '')
      assert.ok(
        ratio >= 4.5,
        `${text} on ${ground}, ${theme ? 'dark' : 'light'}: ${ratio.toFixed(2)}`,
      )
    }
})

test('in both themes, the badge, the dot and the focus ring have a contrast of 3:1 to the background', () => {
  for (const name of ['badge-background', 'accent'])
    for (const theme of [0, 1]) {
      const ratio = contrast(
        colours.get(name)?.[theme] ?? '',
        colours.get('background')?.[theme] ?? '',
      )
      assert.ok(ratio >= 3, `${name}, ${theme ? 'dark' : 'light'}: ${ratio.toFixed(2)}`)
    }
})

test('the styles read exactly the custom properties that are documented', () => {
  const read = new Set([...css.matchAll(/var\(--carillon-([\w-]+)/g)].map(([, name]) => name))
  assert.deepEqual([...read].sort(), properties.split(' ').sort())
})

test('no rule has a physical direction, so that Arabic is mirrored', () => {
  const physical =
    /(?<![\w-])(left|right|(margin|padding|border)-(left|right|top|bottom)|text-align: (left|right))\s*:/g
  assert.deepEqual(css.match(physical) ?? [], [])
})

test('the styles load nothing', () => {
  assert.doesNotMatch(css, /url\(|@import/)
})
