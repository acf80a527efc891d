import assert from 'node:assert/strict'
import { test } from 'node:test'
import { events } from '../../../server/audit/events.ts'
import { pageLanguages, textsOf } from '../../../server/pages/texts/texts.ts'

/** These are about keys, settings, or several users; the entry of an erased user names no user. */
const ofTheService = [
  'user-erased',
  'users-imported',
  'key-created',
  'key-revoked',
  'key-rotated',
  'signing-key-rotated',
  'signing-key-dropped',
  'secret-rotated',
  'settings-changed',
  'tidying-failed',
  'all-signed-out',
  'send-given-up',
  'mail-tested',
  'mails-refused',
  'outbox-dropped',
  'outbox-retried',
  'maintenance-began',
  'maintenance-ended',
  'webhook-changed',
  'webhook-created',
  'webhook-disabled',
  'webhook-removed',
  'audit-exported',
  'key-refused',
  'notifications-withdrawn',
]

test('every event that can belong to a user has words in each language, and no other has', async () => {
  const expected = Object.keys(events).filter((event) => !ofTheService.includes(event))
  for (const language of pageLanguages) {
    const { activity } = await textsOf('account', language)
    assert.deepEqual(Object.keys(activity.events).sort(), expected.sort(), language)
  }
})
