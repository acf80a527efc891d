import assert from 'node:assert/strict'
import { CarillonError } from '../errors.ts'

/** Fails if `act` throws none. */
export function reasonOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    assert.ok(error instanceof CarillonError, String(error))
    assert.equal(error.code, 'INVALID_REQUEST')
    assert.equal(error.details?.length, 1)
    assert.equal(error.details?.[0]?.field, 'body')
    return error.details?.[0]?.reason ?? ''
  }
  return assert.fail('was accepted')
}
