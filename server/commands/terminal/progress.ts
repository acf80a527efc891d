// The progress of a long command, on stderr: a bar on a terminal, else one line per step; nothing with `--json`.
import type { Output } from './output.ts'

type Progress = { step: string; done: number; total: number }
/** Begins a step. What it returns is called with each further number of rows. */
type Begin = (step: string, rows: { total: number }) => (count: number) => void

const width = 30
const drawEveryMs = 100

/** Later output begins on a new line, also after a failure. */
export async function withProgress<Result>({ json }: Output, work: (begin: Begin) => Promise<Result>): Promise<Result> {
  const { stderr } = process
  let isDrawn = false
  let drawnAt = 0
  const draw = (progress: Progress) => {
    const isWhole = progress.done >= progress.total
    if (isDrawn && !isWhole && performance.now() - drawnAt < drawEveryMs) return
    stderr.write(`\r${barOf(progress)}${isWhole ? '\n' : ''}`)
    isDrawn = !isWhole
    drawnAt = performance.now()
  }
  try {
    return await work((step, { total }) => {
      let done = 0
      if (!json && !stderr.isTTY) stderr.write(`${step} ${total} rows\n`)
      const report = json || !stderr.isTTY ? () => {} : draw
      report({ step, done, total })
      return (count) => {
        done += count
        report({ step, done, total })
      }
    })
  } finally {
    if (isDrawn) stderr.write('\n')
  }
}

export function barOf({ step, done, total }: Progress): string {
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const full = Math.floor(share * width)
  const percent = String(Math.floor(share * 100)).padStart(3)
  return `${step.padEnd(9)} ${'█'.repeat(full)}${'░'.repeat(width - full)} ${percent} %  ${done} of ${total} rows`
}
