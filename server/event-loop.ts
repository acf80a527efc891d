// The share of one turn of the event loop that all long work together may use: requests are answered between turns.

const maxWorkMs = 2
/** An immediate costs little, even one that finds the share used up. */
const maxResumedPerTurn = 64

/** Work that waits to continue, in the order of arrival. */
const waiting = new Set<() => void>()
let turnBeganAt = 0
let isTurnScheduled = false

/** Call it between pieces of long work. Resolves at once, or in a later turn if the share is used up or others wait. */
export async function yieldToEventLoop(): Promise<void> {
  if (waiting.size === 0 && hasTimeLeft()) return
  const { promise, resolve } = Promise.withResolvers<void>()
  waiting.add(resolve)
  scheduleTurn()
  await promise
}

/** One immediate per resumed work: what it does next is done before the following immediate reads the clock. */
function scheduleTurn(): void {
  if (isTurnScheduled || waiting.size === 0) return
  isTurnScheduled = true
  setImmediate(() => {
    turnBeganAt = performance.now()
  })
  for (let n = Math.min(waiting.size, maxResumedPerTurn); n > 0; n--) setImmediate(resumeFirst)
  setImmediate(() => {
    isTurnScheduled = false
    scheduleTurn()
  })
}

function resumeFirst(): void {
  const [first] = waiting
  if (first === undefined || !hasTimeLeft()) return
  waiting.delete(first)
  first()
}

function hasTimeLeft(): boolean {
  return performance.now() - turnBeganAt < maxWorkMs
}
