// One strip of numbers over time, drawn by uPlot. No screen reader reads a canvas: the view has the same numbers as a table.
import uPlot from 'uplot'
import { PageElement } from '../account/account-section.ts'
import type { Operator } from './operator-view.ts'

const height = 130
/** The axis on the right has this width, in pixels. */
const msWidth = 50
/** Marks that are nearer to each other, in pixels, are one. */
const markWidth = 16
const tones = ['--accent', '--muted', '--wrong', '--right']
const dayMs = 24 * 3_600_000
/** In seconds. */
const oldest = 2_592_000
const labelled = [1, 5, 60, 3_600, 86_400, oldest]

/** `axis`: `ms` has a scale of its own, on the right. Each bar stands on the bar before it. */
export type Line = {
  label: string
  values: readonly (number | null)[]
  kind: 'bar' | 'line' | 'ms' | 'forecast'
}
/** `at`: in milliseconds. `sign`: one character. */
type Mark = { at: number; sign: string; what: string }
/**
 * `places`: milliseconds since 1970; the last one is the end of the axis. With `ages`, they are
 * seconds, and the values are shares.
 */
export type Strip = {
  lines: readonly Line[]
  places: readonly number[]
  marks?: readonly Mark[]
  ages?: (age: number) => string
}

export class OperatorStrip extends PageElement {
  static override properties = { account: { attribute: false }, strip: { attribute: false } }

  declare account: Operator
  declare strip: Strip
  #plot: uPlot | undefined
  readonly #resized = new ResizeObserver(() => {
    if (this.#plot?.width !== this.clientWidth) this.#draw()
  })

  override connectedCallback(): void {
    super.connectedCallback()
    this.#resized.observe(this)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.#resized.disconnect()
  }

  protected override updated(): void {
    this.#draw()
  }

  /** A canvas knows no names of colours. */
  #colour(name: string): string {
    this.style.color = `var(${name})`
    return getComputedStyle(this).color
  }

  /** Each bar includes the bars before it. The highest come first, behind the lower ones. */
  #data(): uPlot.AlignedData {
    const { places, lines, ages } = this.strip
    const heights = places.map(() => 0)
    const drawn = lines.map(({ values, kind }) =>
      kind === 'bar'
        ? values.map((value, n) => {
            heights[n] = (heights[n] ?? 0) + (value ?? 0)
            return value === null ? null : heights[n]
          })
        : [...values],
    )
    return [ages ? [...places] : places.map((at) => at / 1_000), ...drawn.toReversed()]
  }

  #draw(): void {
    this.#plot?.destroy()
    const { lines, places, ages } = this.strip
    const hasMs = lines.some(({ kind }) => kind === 'ms')
    const isLong = (places.at(-1) ?? 0) - (places[0] ?? 0) > 2 * dayMs
    const { language, own } = this.account
    const { format: formatTime } = new Intl.DateTimeFormat(
      language,
      isLong ? { day: 'numeric', month: 'short' } : { timeStyle: 'short' },
    )
    const display = ages ?? ((seconds: number) => formatTime(1_000 * seconds))
    const { format } = new Intl.NumberFormat(
      language,
      ages ? { style: 'percent' } : { notation: 'compact' },
    )
    const series = lines.map((line, n) => this.#series(line, n, ages && format)).toReversed()
    const grid = { stroke: this.#colour('--border'), width: 1 }
    const axis = { stroke: this.#colour('--muted'), grid, ticks: grid }
    const values: uPlot.Axis.Values = (_, all) => all.map((value) => format(value))
    this.#plot = new uPlot(
      {
        width: this.clientWidth,
        height,
        // The axes of all strips end at the same place.
        padding: [16, hasMs ? 0 : msWidth, 0, 0],
        cursor: { sync: { key: 'operator' }, y: false, drag: { x: false } },
        scales: {
          x: ages ? { time: false, distr: 3, range: [1, oldest] } : { range: wide },
          y: { range: fromZero },
          ms: { range: fromZero },
        },
        axes: [
          {
            ...axis,
            values: (_, all) => all.map(display),
            space: 70,
            ...(ages && { splits: () => labelled, filter: (_, all) => all }),
          },
          { ...axis, values },
          ...(hasMs
            ? [
                {
                  ...axis,
                  values,
                  scale: 'ms',
                  side: 1 as const,
                  size: msWidth,
                  grid: { show: false },
                },
              ]
            : []),
        ],
        series: [
          {
            label: ages ? own.columns.age : own.columns.at,
            value: (_, place) => (place ? display(place) : ''),
          },
          ...series,
        ],
        hooks: { ready: [(plot) => this.#addMarks(plot)] },
      },
      this.#data(),
      this,
    )
  }

  #series(
    { label, kind, values }: Line,
    n: number,
    format: (value: number) => string = String,
  ): uPlot.Series {
    const stroke = this.#colour(tones[n % tones.length] ?? '--text')
    const value = (_: uPlot, __: number, ___: number, index: number | null) =>
      index === null || typeof values[index] !== 'number' ? '–' : format(values[index])
    const bars = {
      fill: stroke,
      paths: uPlot.paths.bars?.({ size: [0.7, 24] }),
      points: { show: false },
    }
    const line = n < tones.length ? [] : [6, 5]
    const dash = { bar: [], line, ms: [2, 3], forecast: [6, 5] }[kind]
    return {
      label,
      value: value as uPlot.Series.Value,
      stroke,
      dash,
      scale: kind === 'ms' ? 'ms' : 'y',
      spanGaps: kind === 'forecast' || (kind === 'line' && this.strip.ages !== undefined),
      ...(kind === 'bar' && bars),
    } as uPlot.Series
  }

  #addMarks({ over, valToPos }: uPlot): void {
    const groups: { left: number; marks: Mark[] }[] = []
    for (const mark of this.strip.marks ?? []) {
      const left = valToPos(mark.at / 1_000, 'x')
      const group = groups.at(-1)
      if (group !== undefined && left - group.left < markWidth) group.marks.push(mark)
      else groups.push({ left, marks: [mark] })
    }
    for (const { left, marks } of groups) {
      const line = document.createElement('span')
      const [only, ...others] = marks
      line.className = 'event'
      line.style.left = `${left}px`
      line.textContent = others.length === 0 ? (only?.sign ?? '') : String(marks.length)
      line.title = marks.map(({ what }) => what).join('\n')
      over.append(line)
    }
  }
}

/** The first bar is whole: half a bar is before its point. */
function wide({ data: [times] }: uPlot, min: number, max: number): uPlot.Range.MinMax {
  const [first = 0, second = 0] = times
  return [min - (second - first) / 2, max]
}

/** An empty strip has a height, too. */
function fromZero(_: uPlot, __: number, max: number): uPlot.Range.MinMax {
  return [0, Math.max(1, 1.15 * max)]
}
