import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { snoozeTimes } from './inbox/view/menu.ts'
import { timesOf } from './times.ts'

const { TZ } = process.env
process.env.TZ = 'Europe/Zurich'
after(() => {
  if (TZ === undefined) delete process.env.TZ
  else process.env.TZ = TZ
})

const now = Date.parse('2026-11-22T10:00:00.000Z')
const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

function ago(ms: number, locale = 'en', at = now): string {
  return timesOf(locale).relative(new Date(at - ms).toISOString(), at)
}

test('a time reads as now, then in minutes, hours and days', () => {
  assert.equal(ago(0), 'now')
  assert.equal(ago(minute - 1), 'now')
  assert.equal(ago(minute), '1 minute ago')
  assert.equal(ago(hour - 1), '59 minutes ago')
  assert.equal(ago(hour), '1 hour ago')
  assert.equal(ago(day - 1), '23 hours ago')
  assert.equal(ago(day), 'yesterday')
  assert.equal(ago(6 * day), '6 days ago')
})

test('a time of a week ago or more reads as a date, with the year only if it is another one', () => {
  assert.equal(ago(7 * day), 'Nov 15')
  assert.equal(ago(365 * day), 'Nov 22, 2025')
})

test('days are counted by midnights, also over a change of the clocks', () => {
  // 40 hours before Sunday 11:00 is Friday 19:00.
  assert.equal(ago(40 * hour), '2 days ago')
  // The clocks changed in the night to 25 October 2026.
  assert.equal(ago(25 * hour, 'en', Date.parse('2026-10-25T12:00:00.000Z')), 'yesterday')
})

test('a time in the future reads as now', () => {
  assert.equal(ago(-hour), 'now')
})

test('times are in the language of the texts', () => {
  assert.equal(ago(5 * minute, 'de'), 'vor 5 Minuten')
  assert.equal(ago(day, 'fr'), 'hier')
  assert.equal(ago(5 * minute, 'ar-EG'), 'قبل ٥ دقائق')
})

test('the complete time has the date, the weekday and the time of day of the reader', () => {
  const text = timesOf('de').absolute('2026-11-22T10:05:00.000Z')
  assert.equal(text, 'Sonntag, 22. November 2026 um 11:05')
})

test('a text that is no time, from a newer server, reads as an empty text', () => {
  assert.equal(timesOf('en').relative('soon', now), '')
  assert.equal(timesOf('en').absolute('soon'), '')
})

test('a day reads as today, yesterday, or its date with the year if it is another one', () => {
  const heading = (ms: number, locale = 'en') => timesOf(locale).day(now - ms, now)
  assert.deepEqual(
    [0, 12 * hour, 2 * day, 365 * day].map((ms) => heading(ms)),
    ['Today', 'Yesterday', 'Friday, November 20', 'Saturday, November 22, 2025'],
  )
  assert.deepEqual(
    [heading(0, 'de'), heading(day, 'fr'), heading(0, 'ar')],
    ['Heute', 'Hier', 'اليوم'],
  )
})

test('a time in the near future names the hour, its weekday, or its date', () => {
  const moment = (ms: number) => timesOf('de').moment(now + ms, now)
  assert.deepEqual([hour, day, 30 * day].map(moment), ['12:00', 'Mo., 11:00', '22. Dez., 11:00'])
})

test('a snooze ends in an hour, at 8 tomorrow, and at 8 on Monday, in the time zone of the reader, also over a change of the clocks', () => {
  const ends = (at: string) =>
    snoozeTimes(Date.parse(at)).map(([name, end]) => `${name} ${new Date(end).toISOString()}`)
  assert.deepEqual(ends('2026-10-24T10:00:00.000Z'), [
    'hour 2026-10-24T11:00:00.000Z',
    'tomorrow 2026-10-25T07:00:00.000Z',
    'week 2026-10-26T07:00:00.000Z',
  ])
  assert.deepEqual(ends('2026-11-23T06:00:00.000Z').at(-1), 'week 2026-11-30T07:00:00.000Z')
  // On a Sunday, tomorrow is Monday.
  assert.equal(ends('2026-11-22T10:00:00.000Z').length, 2)
})
