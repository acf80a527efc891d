// The progress of a long command, on stderr: a bar on a terminal, else one line per step; nothing with `--json`.
import type { Output } from './output.ts'

type Progress = { step: string; done: number; total: number }
type Report = (progress: Progress) => void

const width = 30
const drawEveryMs = 100

/** Passes a `report` function to `work`. Later output begins on a new line, also after a failure. */
export function withProgress<Result>({ json }: Output, work: (report: Report) => Promise<Result>): Promise<Result> {
  if (json) return work(() => {})
  if (process.stderr.isTTY) return withBar(process.stderr, work)
  return work(lines(process.stderr))
}

/** A function that begins a step. The one that it returns is called with each further number of rows. */
export function counting(report: Report) {
  return (step: string, { total, done = 0 }: { total: number; done?: number }) => {
    report({ step, done, total })
    return (count: number): void => {
      done += count
      report({ step, done, total })
    }
  }
}

function lines(stream: NodeJS.WritableStream): Report {
  let lastStep = ''
  return ({ step, total }) => {
    if (step === lastStep) return
    lastStep = step
    stream.write(`${step} ${total} rows\n`)
  }
}

async function withBar<Result>(stream: NodeJS.WritableStream, work: (report: Report) => Promise<Result>) {
  let isDrawn = false
  let drawnAt = 0
  const report = (progress: Progress) => {
    const isWhole = progress.done >= progress.total
    if (isDrawn && !isWhole && performance.now() - drawnAt < drawEveryMs) return
    stream.write(`\r${barOf(progress)}${isWhole ? '\n' : ''}`)
    isDrawn = !isWhole
    drawnAt = performance.now()
  }
  try {
    return await work(report)
  } finally {
    if (isDrawn) stream.write('\n')
  }
}

export function barOf({ step, done, total }: Progress): string {
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const full = Math.floor(share * width)
  const percent = String(Math.floor(share * 100)).padStart(3)
  return `${step.padEnd(9)} ${'█'.repeat(full)}${'░'.repeat(width - full)} ${percent} %  ${done} of ${total} rows`
}
