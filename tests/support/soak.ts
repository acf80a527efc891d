import { test } from 'node:test'

export const isSoak = process.env.SOAK !== undefined

/** A second proof, or a case of the second ring of tests/e2e, runs in `npm run soak` only. */
export const soakTest: typeof test = isSoak ? test : Object.assign(() => Promise.resolve(), test)
