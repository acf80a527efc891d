// For tests that end processes under load: a broken or refused connection is expected, any other failure is not.
import assert from 'node:assert/strict'

/** Returns undefined for a broken or refused connection. Throws any other failure. */
export function onlyBroken(error: NodeJS.ErrnoException): undefined {
  if (error.code === undefined || error instanceof assert.AssertionError) throw error
}
