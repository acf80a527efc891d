// A recorded run, which the page plays without a service (npm run demonstration:record).
import type { ExperimentId, Outcome } from './experiments/experiments.ts'
import type { KeyStep } from './result/result.ts'
import type { Walk } from './walk.ts'

export type Recording = {
  walk: [...Parameters<Walk['results']['set']>][]
  outcomes: { [id in ExperimentId]?: Outcome }
  keys: readonly KeyStep[]
}

export function recordingHere(): Recording | undefined {
  const text = document.getElementById('recording')?.textContent
  return text ? JSON.parse(text) : undefined
}
