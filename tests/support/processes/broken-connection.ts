// A test that ends processes under load expects a broken or refused connection, and no other
// failure.
import assert from 'node:assert/strict'

export function onlyBroken(error: NodeJS.ErrnoException): undefined {
  if (error.code === undefined || error instanceof assert.AssertionError) throw error
}
