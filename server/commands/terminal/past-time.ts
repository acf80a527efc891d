import { InvalidArgumentError } from 'commander'

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 }

export type PastTime = (now: number) => number

export function pastTime(text: string): PastTime {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  if (count !== undefined) return (now) => now - Number(count) * units[unit as keyof typeof units]
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? new Date(text).getTime() : Number.NaN
  if (Number.isNaN(at))
    throw new InvalidArgumentError(
      'Write a duration such as 30m, 2h or 7d, or a date such as 2026-11-22.',
    )
  return () => at
}
