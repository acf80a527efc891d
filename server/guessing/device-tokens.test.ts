import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sealing } from '../basics/secrets.ts'
import {
  type DeviceUser,
  knownDevice,
  maxDeviceTokenLength,
  tokenAfterSignIn,
} from './device-tokens.ts'

const secret = 'six brown owls in the barn, only for tests'
const devices = { sealing: new Sealing({ current: secret }) }
const userOf = (n: number, deviceGeneration = 0): DeviceUser => ({
  id: `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`,
  deviceGeneration,
})
const ann = userOf(1)
const ben = userOf(2)

test('a device is known for the user who signed in on it, and for no other', () => {
  const token = tokenAfterSignIn(devices, [], ann)
  assert.match(knownDevice(devices, [token], ann) ?? '', /^[\w-]{22}$/)
  assert.equal(knownDevice(devices, [token], ben), undefined)
  assert.equal(knownDevice(devices, [token], undefined), undefined)
  assert.equal(knownDevice(devices, [], ann), undefined)
  assert.notEqual(
    knownDevice(devices, [tokenAfterSignIn(devices, [], ann)], ann),
    knownDevice(devices, [token], ann),
  )
})

test('users of one device do not throw each other away, up to ten; the id of the device stays', () => {
  const users = Array.from({ length: 11 }, (_, n) => userOf(n))
  let token = tokenAfterSignIn(devices, [], ann)
  const device = knownDevice(devices, [token], ann)
  for (const user of users.slice(0, 10)) token = tokenAfterSignIn(devices, [token], user)
  assert.deepEqual(
    new Set(users.slice(0, 10).map((user) => knownDevice(devices, [token], user))),
    new Set([device]),
  )
  assert.ok(token.length <= maxDeviceTokenLength)
  // The user who signed in longest ago is forgotten.
  token = tokenAfterSignIn(devices, [token], userOf(0))
  token = tokenAfterSignIn(devices, [token], userOf(10))
  assert.ok(token.length <= maxDeviceTokenLength)
  const forgotten = users.filter((user) => knownDevice(devices, [token], user) === undefined)
  assert.deepEqual(forgotten, [userOf(1)])
})

test('a repeated sign-in keeps the token as it is', () => {
  const token = tokenAfterSignIn(devices, [tokenAfterSignIn(devices, [], ben)], ann)
  assert.equal(tokenAfterSignIn(devices, [token], ann), token)
})

test('a raised device generation forgets every device of the user', () => {
  const token = tokenAfterSignIn(devices, [tokenAfterSignIn(devices, [], ben)], ann)
  assert.equal(knownDevice(devices, [token], userOf(1, 1)), undefined)
  const later = tokenAfterSignIn(devices, [token], userOf(1, 1))
  assert.equal(knownDevice(devices, [later], userOf(1, 1)), knownDevice(devices, [later], ben))
  assert.notEqual(knownDevice(devices, [later], ben), undefined)
})

test('while the secret changes, tokens of the secret before are valid, and are replaced at the next sign-in', () => {
  const token = tokenAfterSignIn(devices, [], ann)
  const other = 'nine white storks on the roof, only for tests'
  const both = { sealing: new Sealing({ current: other, previous: secret }) }
  const device = knownDevice(devices, [token], ann)
  assert.equal(knownDevice(both, [token], ann), device)
  const later = tokenAfterSignIn(both, [token], ann)
  const after = { sealing: new Sealing({ current: other }) }
  assert.equal(knownDevice(after, [token], ann), undefined)
  assert.equal(knownDevice(after, [later], ann), device)
  assert.equal(later.length, token.length)
})

test('an invented or changed token is no known device, and does not reach the next token', () => {
  const token = tokenAfterSignIn(devices, [], ann)
  const [id = '', seal = ''] = token.split('.')
  const forged = [
    '',
    id,
    `${id}.`,
    `${'A'.repeat(22)}.${seal}`,
    `${id}.${'A'.repeat(43)}`,
    `${id}.${seal}~`,
    `${id}.${seal}; Path=/`,
    `${id}.${seal.slice(1)}`,
    `${id}.${Array(11).fill(seal).join('~')}`,
    `${token}\r\nset-cookie: a=b`,
  ]
  for (const value of forged) {
    assert.equal(knownDevice(devices, [value], ann), undefined, value)
    assert.match(tokenAfterSignIn(devices, [value], ann), /^[\w-]{22}\.[\w-]{43}(~[\w-]{43}){0,9}$/)
  }
  assert.equal(
    knownDevice(devices, [...forged.slice(0, 3), token], ann),
    id,
    'another value beside it does no harm',
  )
})
