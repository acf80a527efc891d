// How does a process of the bench answer the one that started it? The other end is processes.ts.

/** Answers each question over IPC with what `answer` makes of it, and ends with the process that asks. */
export function answerQuestions<Question>(answer: (question: Question) => unknown): void {
  process.on('message', async (question: Question) => {
    try {
      process.send?.((await answer(question)) ?? {})
    } catch (error) {
      process.send?.({ failure: error instanceof Error ? error.message : String(error) })
    }
  })
  process.on('disconnect', () => process.exit(1))
}
