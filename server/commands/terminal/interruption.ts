// SIGINT and SIGTERM while a long command works: it says how things stand, and ends with status 1. Process 1 of a container
// would not end at all by itself.

/** `standing` is asked then, and may be empty. What has to be tidied up listens for the process to exit. */
export async function interruptible<Result>(standing: () => string, work: () => Promise<Result>): Promise<Result> {
  const end = (signal: NodeJS.Signals) => {
    process.stderr.write(`${process.stderr.isTTY ? '\n' : ''}carillon: Ended by ${signal}. ${standing()}`.trimEnd())
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
