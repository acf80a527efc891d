// The time of a notification as text: "5 minutes ago", later a date.
const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

export type Times = ReturnType<typeof timesOf>

/** In the reader's time zone. Keep the result: formatters are slow. An invalid time reads as ''. */
export function timesOf(locale: string) {
  const ago = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const formatter = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, options)
  const dayOfYear = formatter({ day: 'numeric', month: 'short' })
  const dayAndYear = formatter({ dateStyle: 'medium' })
  const complete = formatter({ dateStyle: 'full', timeStyle: 'short' })
  const heading = { weekday: 'long', day: 'numeric', month: 'long' } as const
  const dayOfWeek = formatter(heading)
  const dayOfYears = formatter({ ...heading, year: 'numeric' })
  const clock = { hour: 'numeric', minute: '2-digit' } as const
  const timeOfDay = formatter(clock)
  const timeOfWeek = formatter({ ...clock, weekday: 'short' })
  const timeOfYear = formatter({ ...clock, day: 'numeric', month: 'short' })
  const isThisYear = (time: number, now: number) =>
    new Date(time).getFullYear() === new Date(now).getFullYear()
  return {
    /** `now`: in milliseconds since 1970. A time in the future reads as now. */
    relative(at: string, now: number): string {
      const time = Date.parse(at)
      if (Number.isNaN(time)) return ''
      const elapsed = now - time
      if (elapsed < minute) return ago.format(0, 'second')
      if (elapsed < hour) return ago.format(-Math.floor(elapsed / minute), 'minute')
      if (elapsed < day) return ago.format(-Math.floor(elapsed / hour), 'hour')
      const days = midnightsBetween(time, now)
      if (days < 7) return ago.format(-days, 'day')
      return (isThisYear(time, now) ? dayOfYear : dayAndYear).format(time)
    },
    absolute(at: string): string {
      const time = Date.parse(at)
      return Number.isNaN(time) ? '' : complete.format(time)
    },
    /** "Today", "Yesterday", "Friday, 20 November". Times in milliseconds since 1970. */
    day(at: number, now: number): string {
      const days = midnightsBetween(at, now)
      const dated = isThisYear(at, now) ? dayOfWeek : dayOfYears
      const text = days < 2 ? ago.format(-Math.max(days, 0), 'day') : dated.format(at)
      return text.charAt(0).toLocaleUpperCase(locale) + text.slice(1)
    },
    /** Writes a time in the future. */
    moment(at: number, now: number): string {
      const days = midnightsBetween(at, now)
      if (Number.isNaN(days)) return ''
      if (days === 0) return timeOfDay.format(at)
      return (days >= -7 ? timeOfWeek : timeOfYear).format(at)
    },
  }
}

/** Rounded, because a day on which the clocks change has 23 or 25 hours. */
function midnightsBetween(from: number, to: number): number {
  return Math.round((new Date(to).setHours(0, 0, 0, 0) - new Date(from).setHours(0, 0, 0, 0)) / day)
}
