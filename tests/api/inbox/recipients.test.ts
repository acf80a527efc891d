import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { findUserByExternalId } from '../../../server/users/users.store.ts'
import { startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const ann = await app.user('ann')
const anns = await app.signIn(ann, 'stateless')
const { key: sendKey } = await app.producerKey(['send'])
const { key: usersKey } = await app.producerKey(['send', 'users'])

type Result = { userId: string; id: string; status: string }
const send = (body: object, { key = sendKey, idempotencyKey = '' } = {}) =>
  app.post(
    '/api/notifications',
    { title: 'Hi', ...body },
    {
      authorization: `Bearer ${key}`,
      ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
    },
  )

async function sent(body: object, options = {}): Promise<Result[]> {
  const response = await send(body, options)
  assert.equal(response.status, 201, response.text)
  return response.json().data.results
}

test('a null member of a recipient means that it is absent, as in a response', async () => {
  const none = { username: null, userId: null, externalId: null, issuer: null }
  const recipients = [
    { ...none, username: 'ann' },
    { ...none, userId: ann.id },
    { ...none, externalId: 'crm|null' },
  ]
  const [byName, byId, external] = await sent({ recipients }, { key: usersKey })
  assert.deepEqual([byName, external?.status], [byId, 'delivered'])
  const refused = await send({ recipients: [none] })
  assert.equal(refused.status, 400)
  assert.match(refused.json().error.details[0].reason, /exactly one of/)
})

test('without the scope users, an unknown external id is reported and no user is created', async () => {
  const results = await sent({ recipients: [{ username: 'ann' }, { externalId: 'stranger' }] })
  assert.deepEqual(results[1], { userId: null, id: null, status: 'unknown_recipient' })
  assert.equal(
    await app.store.read(findUserByExternalId, { issuer: '', externalId: 'stranger' }),
    undefined,
  )
})

test('a delivery that reaches no one is 422, names every recipient, and stores nothing', async () => {
  const version = await app.database.version()
  const recipients = [{ username: 'nobody' }, { externalId: 'stranger' }]
  const response = await send({ recipients }, { idempotencyKey: 'unreached' })
  assert.equal(response.status, 422)
  const { error } = response.json()
  assert.equal(error.code, 'UNPROCESSABLE')
  assert.match(error.message, /^No recipient is a user\. A key with the scope users creates/)
  assert.deepEqual(error.details, [
    { field: 'recipients.0', reason: 'names no user' },
    { field: 'recipients.1', reason: 'names no user' },
  ])
  assert.equal(await app.database.version(), version)
})

test('with "refuse", one unknown recipient is 422, no one gets anything, and no user is created (U7)', async () => {
  const { total } = await app.list(anns)
  const recipients = [{ username: 'ann' }, { externalId: 'new' }, { username: 'nobody' }]
  const response = await send({ recipients, unknownRecipients: 'refuse' }, { key: usersKey })
  assert.equal(response.status, 422)
  const reason = 'names no user'
  assert.deepEqual(response.json().error.details, [
    { field: 'recipients.1', reason },
    { field: 'recipients.2', reason },
  ])
  assert.equal((await app.list(anns)).total, total)
  assert.equal(
    await app.store.read(findUserByExternalId, { issuer: '', externalId: 'new' }),
    undefined,
  )
  for (const unknownRecipients of ['report', null])
    assert.equal(
      (await sent({ recipients, unknownRecipients }, { key: usersKey }))[2]?.status,
      'unknown_recipient',
    )
})

test('a 422 is not remembered: the same key works later, with the same body and with another', async () => {
  const body = { recipients: [{ username: 'later' }], unknownRecipients: 'refuse' }
  for (const idempotencyKey of ['same-body', 'other-body'])
    for (let n = 0; n < 2; n++) assert.equal((await send(body, { idempotencyKey })).status, 422)
  assert.equal(
    (await send({ recipients: [{ username: 'ann' }] }, { idempotencyKey: 'other-body' })).status,
    201,
  )
  await app.user('later')
  assert.equal((await send(body, { idempotencyKey: 'same-body' })).status, 201)
  assert.equal((await send(body, { idempotencyKey: 'other-body' })).status, 422)
})

test('refuses another value of unknownRecipients and names the valid ones', async () => {
  const response = await send({ recipients: [{ username: 'ann' }], unknownRecipients: 'drop' })
  assert.deepEqual(response.json().error.details, [
    { field: 'unknownRecipients', reason: 'must be one of: report, refuse, null' },
  ])
})

const refused: [string, object, string, RegExp][] = [
  [
    'an external id of 256 characters',
    { externalId: 'x'.repeat(256) },
    '.externalId',
    /at most 255 characters/,
  ],
  [
    'an external id with a control character',
    { externalId: 'a\nb' },
    '.externalId',
    /control characters/,
  ],
  ['the external id "."', { externalId: '.' }, '.externalId', /URL parsers/],
  ['the external id ".."', { externalId: '..' }, '.externalId', /URL parsers/],
  ['an external id beside a username', { externalId: '1', username: 'ann' }, '', /exactly one of/],
  [
    'an issuer without an external id',
    { username: 'ann', issuer: 'https://id.example' },
    '.issuer',
    /only for an externalId/,
  ],
]
for (const [name, recipient, field, reason] of refused)
  test(`refuses ${name} with the reason, and delivers nothing`, async () => {
    const version = await app.database.version()
    const response = await send({ recipients: [{ username: 'ann' }, recipient] }, { key: usersKey })
    assert.equal(response.status, 400)
    const { code, details } = response.json().error
    assert.equal(code, 'INVALID_REQUEST')
    assert.deepEqual(
      details.map((fault: { field: string }) => fault.field),
      [`recipients.1${field}`],
    )
    assert.match(details[0].reason, reason)
    assert.equal(await app.database.version(), version)
  })
