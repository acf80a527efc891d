// Lets a process of the bench respond to its parent process (processes.ts), which may also ask for its processor time.

/** Processor time of all threads in microseconds, and the time in milliseconds. */
export type Usage = { processorUs: number; at: number }

/** Responds to each request over IPC with the result of `respond`. Ends if that fails, and when the parent process ends. */
export function serveRequests<Question>(respond: (question: Question) => unknown): void {
  process.on('message', async (question: Question | 'usage') => {
    process.send?.((question === 'usage' ? usage() : await respond(question)) ?? {})
  })
  process.on('disconnect', () => process.exit(1))
}

function usage(): Usage {
  const { user, system } = process.cpuUsage()
  return { processorUs: user + system, at: performance.now() }
}
