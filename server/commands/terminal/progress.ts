import type { Output } from './output.ts'

const width = 30
const drawEveryMs = 100

export function progress({ json }: Output) {
  const { stderr } = process
  return (step: string, { total, done = 0 }: { total: number; done?: number }) => {
    const line = `${step} ${total} rows${done > 0 ? `, after the ${done} that are there` : ''}`
    if (!json) stderr.write(`${stderr.isTTY ? barOf({ step, done, total }) : line}\n`)
    let drawnAt = 0
    return (count: number) => {
      done += count
      if (json || !stderr.isTTY || (done < total && performance.now() - drawnAt < drawEveryMs))
        return
      drawnAt = performance.now()
      // ECMA-48, CUU: other output gets a new line.
      stderr.write(`\x1b[A\r${barOf({ step, done, total })}\n`)
    }
  }
}

/** A wrapped line would not be overwritten. */
export function barOf(
  state: { step: string; done: number; total: number },
  columns = process.stderr.columns,
): string {
  const { step, done, total } = state
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const bar = '█'.repeat(Math.floor(share * width)).padEnd(width, '░')
  const percent = String(Math.floor(share * 100)).padStart(3)
  return `${step.padEnd(9)} ${bar} ${percent} %  ${done} of ${total} rows`.slice(
    0,
    columns || undefined,
  )
}

/** Without a listener, process 1 of a container ignores SIGTERM. */
export async function interruptible<Result>(
  state: () => string,
  work: () => Promise<Result>,
): Promise<Result> {
  const end = (signal: NodeJS.Signals) => {
    process.stderr.write(
      `${process.stderr.isTTY ? '\n' : ''}carillon: Ended by ${signal}. ${state()}`.trimEnd(),
    )
    process.stderr.write('\n')
    process.exit(1)
  }
  process.on('SIGINT', end).on('SIGTERM', end)
  try {
    return await work()
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end)
  }
}
