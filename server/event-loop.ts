// The share of a turn of the event loop that long work may have, all of it together: requests are answered in between.

const sliceMs = 2
/** An immediate costs little, also one that finds the share used up. */
const maxInOneTurn = 64

/** Who waits for his turn, longest first. */
const waiting = new Set<() => void>()
let began = 0
let isTurnDue = false

/** Resolves at once while this turn's share lasts and nobody waits, else in a later turn: first come, first served. */
export async function pause(): Promise<void> {
  if (waiting.size === 0 && isLeft()) return
  const { promise, resolve } = Promise.withResolvers<void>()
  waiting.add(resolve)
  planTurn()
  await promise
}

/** An immediate for each: what one goes on to do is done before the next looks at the clock. */
function planTurn(): void {
  if (isTurnDue || waiting.size === 0) return
  isTurnDue = true
  setImmediate(() => {
    began = performance.now()
  })
  for (let n = Math.min(waiting.size, maxInOneTurn); n > 0; n--) setImmediate(letOneGoOn)
  setImmediate(() => {
    isTurnDue = false
    planTurn()
  })
}

function letOneGoOn(): void {
  const [first] = waiting
  if (first === undefined || !isLeft()) return
  waiting.delete(first)
  first()
}

function isLeft(): boolean {
  return performance.now() - began < sliceMs
}
