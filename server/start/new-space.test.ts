// V8's settings are of the whole process.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

/** The load keeps its last 20,000 objects alive. */
function bytesAfterLoad({ isBounded }: { isBounded: boolean }): number {
  const program = `
    import { setImmediate } from 'node:timers/promises'
    import { boundNewSpace, newSpaceBytes } from '${new URL('./new-space.ts', import.meta.url)}'
    if (${isBounded}) boundNewSpace()
    const kept = []
    for (let turn = 0; turn < 300; turn++) {
      for (let n = 0; n < 5_000; n++) kept[(turn * 5_000 + n) % 20_000] = { n, text: 'object ' + n, items: [n, n + 1, n + 2] }
      await setImmediate()
    }
    console.log(newSpaceBytes())`
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program],
    {
      encoding: 'utf8',
    },
  )
  assert.equal(stderr, '')
  return Number(stdout)
}

test('under load the space for new objects stays below 16 MB, and without the bound it does not', () => {
  const bounded = bytesAfterLoad({ isBounded: true })
  assert.ok(bounded < 16 * 2 ** 20, `${bounded} bytes`)
  const unbounded = bytesAfterLoad({ isBounded: false })
  assert.ok(unbounded > 24 * 2 ** 20, `${unbounded} bytes without the bound`)
})
