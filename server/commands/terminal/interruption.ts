// SIGINT and SIGTERM during a long command: it prints its state and ends with status 1. Without a listener, process 1 of a
// container would ignore the signal. And the end of a command that goes on until then.

/** `state` returns the sentence to print, or an empty text. Code that must clean up listens for the exit of the process. */
export async function interruptible<Result>(state: () => string, work: () => Promise<Result>): Promise<Result> {
  const end = (signal: NodeJS.Signals) => {
    process.stderr.write(`${process.stderr.isTTY ? '\n' : ''}carillon: Ended by ${signal}. ${state()}`.trimEnd())
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

/** Aborts at a signal, and when the reading program has closed the pipe, as `head` does after its lines. */
export function untilInterrupted(): AbortSignal {
  const ended = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ended.abort())
  process.stdout.on('error', () => ended.abort())
  return ended.signal
}
