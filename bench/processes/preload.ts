// How is the service as shipped asked how it fares? Loaded before it (`node --import`), this answers over IPC.
import { isMainThread } from 'node:worker_threads'
import { probe } from './probe.ts'
import { answerQuestions } from './respond.ts'

// A worker thread inherits the option that loads this.
if (isMainThread && process.send !== undefined) {
  answerQuestions(probe)
  process.channel?.unref()
}
