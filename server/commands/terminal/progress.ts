// How far a long command is, on stderr: a bar on a terminal, a line a step elsewhere, nothing for machines (`--json`).
import type { Output } from './output.ts'

type Progress = { step: string; done: number; total: number }
type Report = (progress: Progress) => void

const width = 30
const shownEveryMs = 100

/** Hands `work` what to report to. Whatever becomes of it, what is printed next begins on a line of its own. */
export function withProgress<Result>({ json }: Output, work: (report: Report) => Promise<Result>): Promise<Result> {
  if (json) return work(() => {})
  if (process.stderr.isTTY) return withBar(process.stderr, work)
  return work(lines(process.stderr))
}

function lines(stream: NodeJS.WritableStream): Report {
  let shown = ''
  return ({ step, total }) => {
    if (step === shown) return
    shown = step
    stream.write(`${step} ${total} rows\n`)
  }
}

async function withBar<Result>(
  stream: NodeJS.WritableStream,
  work: (report: Report) => Promise<Result>,
): Promise<Result> {
  let isDrawn = false
  let shownAt = 0
  const report = (progress: Progress) => {
    const isWhole = progress.done >= progress.total
    if (isDrawn && !isWhole && performance.now() - shownAt < shownEveryMs) return
    stream.write(`\r${barOf(progress)}${isWhole ? '\n' : ''}`)
    isDrawn = !isWhole
    shownAt = performance.now()
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
