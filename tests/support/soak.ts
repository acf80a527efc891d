// For tests: what runs in `npm run soak` only.
import { test } from 'node:test'

export const isSoak = process.env.SOAK !== undefined

/** Declares a second proof, or a case of the second ring of tests/e2e: it runs in `npm run soak` only. */
export const soakTest: typeof test = isSoak ? test : Object.assign(() => Promise.resolve(), test)
