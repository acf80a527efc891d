// Draws reproducible random numbers. RANDOM_SEED=<seed> draws those of a printed seed again.
import { randomInt } from 'node:crypto'
import type { TestContext } from 'node:test'

export type Random = {
  /** At least 0, less than 1. */
  draw: () => number
  /** A whole number, at least 0, less than `bound`. */
  below: (bound: number) => number
}

export function randomOf(t: TestContext): Random {
  const seed = Number(process.env.RANDOM_SEED ?? randomInt(2 ** 32))
  t.diagnostic(`RANDOM_SEED=${seed}`)
  return randomFrom(seed)
}

/** The generator is mulberry32: 32 bits of state are enough for a test's choices. */
export function randomFrom(seed: number): Random {
  let state = seed
  const draw = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { draw, below: (bound) => Math.floor(draw() * bound) }
}
