import type { Operator, Row } from './operator-view.ts'
import type { Line, Strip } from './strip.ts'

/** `points` and the two `days` are rows of `at` and numbers. */
export type Numbers = {
  points: Row[]
  days: Row[]
  marks: { at: string; kind: keyof typeof signs }[]
  database: { kibPerDay: number | null; fullAt: string | null }
  lastBackup: { endedAt: string; node: string } | null
}

/** Every font has them. */
export const signs = { start: '+', rotation: '*', backup: 'o', settings: 'x' } as const
export type StripName = keyof typeof strips
/** How much of the time axis is after now. */
const ahead = 0.2
const dayMs = 24 * 3_600_000

export const strips = {
  signIns: ['accepted', 'delayed', 'refused'],
  sent: ['deliveries', 'reads', 'deliveryP99Ms', 'readP99Ms'],
  requests: ['succeeded', 'rejected', 'failed'],
  work: ['streams', 'timers', 'outbox'],
  size: ['databaseMib', 'logMib'],
} as const
const ofBars: readonly string[] = [...strips.signIns, ...strips.requests]

export function stripOf(name: StripName, numbers: Numbers, { own, exact }: Operator): Strip {
  const { columns, now } = own
  const { points, marks } = numbers
  const times = points.map(({ at }) => Date.parse(String(at)))
  const [first = 0] = times
  const last = times.at(-1) ?? 0
  const until = last + ahead * (last - first)
  const lines = strips[name].map((line): Line => {
    const values = points.map((point) => point[line] as number | null)
    const kind = ofBars.includes(line) ? 'bar' : 'line'
    return {
      label: columns[line],
      values: [...values, null],
      kind: line.endsWith('P99Ms') ? 'ms' : kind,
    }
  })
  const size = lines[0]?.values.at(-2)
  const grown = ((until - last) / dayMs) * ((numbers.database.kibPerDay ?? 0) / 1_024)
  if (name === 'size' && size && grown > 0) {
    const values = [...times.slice(1).map(() => null), size, Math.round(size + grown)]
    lines.push({ label: columns.forecast, values, kind: 'forecast' })
  }
  return {
    lines,
    places: [...times, until],
    marks: marks.map(({ at, kind }) => {
      const what = `${signs[kind]} ${now.marks[kind]}, ${exact(at)}`
      return { at: Date.parse(at), sign: signs[kind], what }
    }),
  }
}
