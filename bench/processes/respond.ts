// Lets a process of the bench respond to its parent process (processes.ts).

/** Responds to each request over IPC with the result of `response`, and ends when the parent process ends. */
export function serveRequests<Question>(response: (question: Question) => unknown): void {
  process.on('message', async (question: Question) => {
    try {
      process.send?.((await response(question)) ?? {})
    } catch (error) {
      process.send?.({ failure: error instanceof Error ? error.message : String(error) })
    }
  })
  process.on('disconnect', () => process.exit(1))
}
