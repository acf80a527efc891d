// The share of a turn of the event loop that long work may have, all of it together: requests are answered in between.
import { setImmediate as nextTurn } from 'node:timers/promises'

const sliceMs = 2

let began = 0
let isNextDue = false

/** Resolves at once while this turn's share lasts, and in a later turn where it is used up. */
export async function pause(): Promise<void> {
  while (performance.now() - began >= sliceMs) {
    if (!isNextDue) setImmediate(begin)
    isNextDue = true
    // One for each: what the one before goes on to do is done before this one looks at the clock.
    await nextTurn()
  }
}

function begin(): void {
  isNextDue = false
  began = performance.now()
}
