import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sealing } from './secrets.ts'

const [old, current, other] = ['the old secret', 'the current secret', 'a third secret'] as const

test('a text that either secret sealed is opened, and no other (T20)', async () => {
  const both = new Sealing({ current, previous: old })
  for (const secret of [old, current])
    assert.equal(
      await both.open('factors', await new Sealing({ current: secret }).seal('factors', 'plum')),
      'plum',
    )
  assert.equal(
    await both.open('factors', await new Sealing({ current: other }).seal('factors', 'plum')),
    undefined,
  )
  const sealed = await both.seal('factors', 'plum')
  assert.equal(await both.open('signing-keys', sealed), undefined, 'another purpose')
  for (const damaged of ['', 'plum', sealed.replace('.', '..'), sealed.slice(0, -2), `${sealed}A`])
    assert.equal(await both.open('factors', damaged), undefined)
})

test('a MAC of either secret is accepted, and none of another text, purpose or secret', () => {
  const both = new Sealing({ current, previous: old })
  for (const secret of [old, current])
    assert.ok(
      both.isMac(
        'device-tokens',
        'plum',
        new Sealing({ current: secret }).mac('device-tokens', 'plum'),
      ),
    )
  const mac = both.mac('device-tokens', 'plum')
  assert.equal(both.isMac('device-tokens', 'pear', mac), false)
  assert.equal(both.isMac('guesses', 'plum', mac), false)
  assert.equal(both.isMac('device-tokens', 'plum', ''), false)
  assert.equal(new Sealing({ current: other }).isMac('device-tokens', 'plum', mac), false)
})

test('two seals of one text differ, and neither contains the text', async () => {
  const sealing = new Sealing({ current })
  const sealed = await Promise.all([
    sealing.seal('factors', 'plum'),
    sealing.seal('factors', 'plum'),
  ])
  assert.notEqual(sealed[0], sealed[1])
  for (const one of sealed)
    assert.ok(!Buffer.from(one, 'base64url').includes('plum') && !one.includes('plum'))
})
