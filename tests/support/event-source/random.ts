// For tests: chance that can be had again. The seed is printed; CHANCE_SEED=<seed> draws the same numbers once more.
import { randomInt } from 'node:crypto'
import type { TestContext } from 'node:test'

export type Chance = {
  /** From 0 to below 1. */
  draw: () => number
  /** A whole number from 0 to below `bound`. */
  below: (bound: number) => number
}

/** The generator is mulberry32: 32 bits of state are enough to choose what a test does. */
export function randomOf(t: TestContext): Chance {
  const seed = Number(process.env.CHANCE_SEED ?? randomInt(2 ** 32))
  t.diagnostic(`CHANCE_SEED=${seed}`)
  let state = seed
  const draw = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { draw, below: (bound) => Math.floor(draw() * bound) }
}
