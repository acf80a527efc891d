import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceLabel } from './entry.ts'

const webKit = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const labels: Record<string, string> = {
  'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0': 'Firefox on Linux',
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/140.0.0.0 Safari/537.36`]:
    'Chrome on Windows',
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`]:
    'Edge on Windows',
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webKit} Chrome/140.0.0.0 Safari/537.36 OPR/125.0.0.0`]:
    'Opera on macOS',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15':
    'Safari on macOS',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1':
    'Safari on iPhone',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Mobile/15E148 Safari/604.1':
    'Chrome on iPhone',
  [`Mozilla/5.0 (Linux; Android 14; SM-S921B) ${webKit} SamsungBrowser/26.0 Chrome/122.0.0.0 Mobile Safari/537.36`]:
    'Samsung Internet on Android',
  'Mozilla/5.0 (Android 14; Mobile; rv:128.0) Gecko/128.0 Firefox/128.0': 'Firefox on Android',
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${webKit} Chrome/140.0.0.0 Safari/537.36`]:
    'Chrome on ChromeOS',
  [`Mozilla/5.0 (X11; Linux x86_64) ${webKit} HeadlessChrome/140.0.0.0 Safari/537.36`]:
    'Chrome on Linux',
  'Mozilla/5.0 (X11; Linux x86_64)': 'A browser on Linux',
  'Mozilla/5.0': 'A browser',
  'curl/8.5.0': 'curl',
  node: 'node',
  'Acme-App/1.2 (Android 14)': 'Acme-App on Android',
}
for (const [userAgent, label] of Object.entries(labels))
  test(`the device of "${userAgent.slice(0, 60)}" is ${label}`, () =>
    assert.equal(deviceLabel(userAgent), label))

test('a field without a product, or with one that is not a name, gives no label', () => {
  for (const text of [
    null,
    '',
    ' ',
    '<script>alert(1)</script>',
    '"; drop table session',
    `${'x'.repeat(33)}/1`,
    '\u{1f600}',
  ])
    assert.equal(deviceLabel(text), null)
})

test('a label contains nothing of a hostile field', () => {
  assert.equal(deviceLabel('evil.example/1 (Linux) "> <a href=//x>'), 'evil.example on Linux')
  assert.equal(deviceLabel('Mozilla/5.0 (Windows) Firefox/<b>'), 'Firefox on Windows')
})
