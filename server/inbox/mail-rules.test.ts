import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Hours,
  isTimeZone,
  type MailRule,
  mailDueAt,
  ruleFor,
  usualHours,
} from './mail-rules.ts'

const berlin: Hours = { ...usualHours, timeZone: 'Europe/Berlin' }
const quiet: Hours = { ...berlin, quietHours: { from: '22:00', to: '07:00' } }

const cases: [title: string, rule: MailRule, at: string, hours: Hours, due: string | undefined][] =
  [
    ['never', 'off', '2026-01-05T10:00:00Z', usualHours, undefined],
    ['after 15 minutes', '15m', '2026-01-05T10:01:02Z', berlin, '2026-01-05T10:16:02.000Z'],
    [
      'at the next full hour',
      'hourly',
      '2026-01-05T10:00:00Z',
      usualHours,
      '2026-01-05T11:00:00.000Z',
    ],
    [
      'at the hour of a zone that is half an hour off',
      'hourly',
      '2026-01-05T10:10:00Z',
      { ...usualHours, timeZone: 'Asia/Kolkata' },
      '2026-01-05T10:30:00.000Z',
    ],
    ['at eight the same day', 'daily', '2026-01-05T06:59:59Z', berlin, '2026-01-05T07:00:00.000Z'],
    ['at eight the next day', 'daily', '2026-01-05T07:00:00Z', berlin, '2026-01-06T07:00:00.000Z'],
    [
      'at eight of summer time, the day after the change',
      'daily',
      '2026-03-28T08:00:00Z',
      berlin,
      '2026-03-29T06:00:00.000Z',
    ],
    [
      'at two on the day after a change that has no two o’clock',
      'daily',
      '2026-03-29T02:00:00Z',
      { ...berlin, digestAt: 2 },
      '2026-03-30T00:00:00.000Z',
    ],
    [
      'on the next Monday',
      'weekly',
      '2026-01-05T12:00:00Z',
      { ...berlin, digestAt: 9 },
      '2026-01-12T08:00:00.000Z',
    ],
    [
      'on this Monday, before the hour',
      'weekly',
      '2026-01-05T07:00:00Z',
      { ...berlin, digestAt: 9 },
      '2026-01-05T08:00:00.000Z',
    ],
    [
      'after the quiet hours, the next morning',
      '5m',
      '2026-01-05T21:00:00Z',
      quiet,
      '2026-01-06T06:00:00.000Z',
    ],
    [
      'after the quiet hours, the same morning',
      '5m',
      '2026-01-05T03:00:00Z',
      quiet,
      '2026-01-05T06:00:00.000Z',
    ],
    [
      'after the quiet hours, in an hour that comes twice',
      '5m',
      '2026-10-25T01:05:00Z',
      { ...berlin, quietHours: { from: '22:00', to: '02:30' } },
      '2026-10-25T01:30:00.000Z',
    ],
    ['before the quiet hours', '5m', '2026-01-05T20:54:59Z', quiet, '2026-01-05T20:59:59.000Z'],
    [
      'a digest within the quiet hours',
      'daily',
      '2026-01-05T12:00:00Z',
      { ...quiet, digestAt: 6 },
      '2026-01-06T06:00:00.000Z',
    ],
  ]
for (const [title, rule, at, hours, due] of cases)
  test(`a mail is due: ${title}`, () => {
    const found = mailDueAt(rule, Date.parse(at), hours)
    assert.equal(found && new Date(found).toISOString(), due)
  })

test('the reader decides over the declaration and the service, but cannot turn a mandatory category off', () => {
  const nothing = { own: null, ofAll: null, declared: null, isMandatory: false }
  assert.equal(ruleFor(nothing, '1h'), '1h')
  assert.equal(ruleFor({ ...nothing, declared: 'daily' }, '1h'), 'daily')
  assert.equal(ruleFor({ ...nothing, declared: 'daily', ofAll: 'off' }, '1h'), 'off')
  assert.equal(ruleFor({ ...nothing, declared: 'daily', ofAll: 'off', own: '5m' }, '1h'), '5m')
  assert.equal(
    ruleFor({ ...nothing, declared: 'daily', own: 'off', isMandatory: true }, '1h'),
    'daily',
  )
  assert.equal(ruleFor({ ...nothing, own: 'weekly', isMandatory: true }, '1h'), 'weekly')
})

test('a time zone is one that digests can be calculated in, and any other is UTC', () => {
  const at = Date.UTC(2026, 0, 5, 12)
  const wrong = ['PST', 'SystemV/AST4', '\u221201:00', '2026-01-05T12:00Z', 'Europe/Nowhere', '']
  assert.deepEqual(wrong.filter(isTimeZone), [])
  for (const timeZone of wrong)
    assert.equal(mailDueAt('daily', at, { ...usualHours, timeZone }), mailDueAt('daily', at))
  assert.ok(Intl.supportedValuesOf('timeZone').every(isTimeZone))
})
