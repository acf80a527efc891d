// Measures the processor time of the main thread, which does not grow if the machine is busy.
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Returns milliseconds, of the service and of the client of the test. */
export async function timeOf(act: () => Promise<unknown>): Promise<number> {
  const from = process.threadCpuUsage()
  await act()
  const { user, system } = process.threadCpuUsage(from)
  return (user + system) / 1_000
}

/**
 * The kernel counts the time of a thread in steps of up to 4 ms, so each of five is the mean of
 * four.
 */
export async function bestTimeOf(act: () => Promise<unknown>): Promise<number> {
  let best = Infinity
  for (let n = 0; n < 5; n++) {
    const four = await timeOf(async () => {
      for (let request = 0; request < 4; request++) await act()
    })
    best = Math.min(best, four / 4)
  }
  return best
}

/** Milliseconds of the main thread: of the longest turn of the event loop, and of all turns. */
export type Turns = { longest: number; all: number }

/** Returns those of the run with the shortest longest turn, of up to ten, until one is short. */
export async function turnsOf(act: () => Promise<unknown>, shortMs: number): Promise<Turns> {
  let best: Turns = { longest: Infinity, all: Infinity }
  for (let n = 0; n < 10 && best.longest >= shortMs; n++) {
    const turns = await turnsOfOne(act)
    if (turns.longest < best.longest) best = turns
  }
  return best
}

async function turnsOfOne(act: () => Promise<unknown>): Promise<Turns> {
  const turns = { longest: 0, all: 0 }
  let isDone = false
  const acted = act().finally(() => {
    isDone = true
  })
  while (!isDone) {
    const turn = await timeOf(nextTurn)
    turns.longest = Math.max(turns.longest, turn)
    turns.all += turn
  }
  await acted
  return turns
}
