// A token of a device is valid for the users who signed in on it, and for nobody else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sealing } from '../basics/secrets.ts'
import { DeviceTokens, type DeviceUser, maxDeviceTokenLength } from './device-tokens.ts'

const secret = 'six brown owls in the barn, only for tests'
const devices = new DeviceTokens(new Sealing({ current: secret }))
const userOf = (n: number, deviceGeneration = 0): DeviceUser => ({
  id: `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`,
  deviceGeneration,
})
const [ann, ben] = [userOf(1), userOf(2)]

test('a device is known for the user who signed in on it, and for no other', () => {
  const token = devices.afterSignIn([], ann)
  assert.match(devices.knownDevice([token], ann) ?? '', /^[\w-]{22}$/)
  assert.equal(devices.knownDevice([token], ben), undefined)
  assert.equal(devices.knownDevice([token], undefined), undefined)
  assert.equal(devices.knownDevice([], ann), undefined)
  assert.notEqual(devices.knownDevice([devices.afterSignIn([], ann)], ann), devices.knownDevice([token], ann))
})

test('users of one device do not throw each other away, up to ten; the id of the device stays', () => {
  const users = Array.from({ length: 11 }, (_, n) => userOf(n))
  let token = devices.afterSignIn([], ann)
  const device = devices.knownDevice([token], ann)
  for (const user of users.slice(0, 10)) token = devices.afterSignIn([token], user)
  assert.deepEqual(new Set(users.slice(0, 10).map((user) => devices.knownDevice([token], user))), new Set([device]))
  assert.ok(token.length <= maxDeviceTokenLength)
  // The user who signed in longest ago is forgotten.
  token = devices.afterSignIn([token], userOf(0))
  token = devices.afterSignIn([token], userOf(10))
  assert.ok(token.length <= maxDeviceTokenLength)
  const forgotten = users.filter((user) => devices.knownDevice([token], user) === undefined)
  assert.deepEqual(forgotten, [userOf(1)])
})

test('a repeated sign-in keeps the token as it is', () => {
  const token = devices.afterSignIn([devices.afterSignIn([], ben)], ann)
  assert.equal(devices.afterSignIn([token], ann), token)
})

test('a raised device generation forgets every device of the user', () => {
  const token = devices.afterSignIn([devices.afterSignIn([], ben)], ann)
  assert.equal(devices.knownDevice([token], userOf(1, 1)), undefined)
  const later = devices.afterSignIn([token], userOf(1, 1))
  assert.equal(devices.knownDevice([later], userOf(1, 1)), devices.knownDevice([later], ben))
  assert.notEqual(devices.knownDevice([later], ben), undefined)
})

test('while the secret changes, tokens of the secret before are valid, and are replaced at the next sign-in', () => {
  const token = devices.afterSignIn([], ann)
  const other = 'nine white storks on the roof, only for tests'
  const both = new DeviceTokens(new Sealing({ current: other, previous: secret }))
  const device = devices.knownDevice([token], ann)
  assert.equal(both.knownDevice([token], ann), device)
  const later = both.afterSignIn([token], ann)
  const after = new DeviceTokens(new Sealing({ current: other }))
  assert.equal(after.knownDevice([token], ann), undefined)
  assert.equal(after.knownDevice([later], ann), device)
  assert.equal(later.length, token.length)
})

test('an invented or changed token is no known device, and does not reach the next token', () => {
  const token = devices.afterSignIn([], ann)
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
    assert.equal(devices.knownDevice([value], ann), undefined, value)
    assert.match(devices.afterSignIn([value], ann), /^[\w-]{22}\.[\w-]{43}(~[\w-]{43}){0,9}$/)
  }
  assert.equal(devices.knownDevice([...forged.slice(0, 3), token], ann), id, 'another value beside it does no harm')
})
