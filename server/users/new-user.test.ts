// A read after the commit may fail, and the response would say that nothing was kept
// (docs/operations/refusals.md).
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { CarillonError } from '../basics/errors.ts'
import { readDatabaseUrl } from '../config/database-url.ts'
import { openStore } from '../open-store.ts'
import { Passwords } from '../passwords/passwords.ts'
import { replaceOperation } from '../store/testing/operations.ts'
import { findUser } from './find-user.ts'
import * as stored from './users.store.ts'
import { addUser } from './users.ts'

const email = 'ann@example.org'
const users = {
  'a name only': { username: 'Ann' },
  'every field': {
    username: 'bob',
    externalId: 'b-1',
    displayName: 'Bob',
    locale: 'de-CH',
    email,
    emailVerified: true,
  },
  'an address without a proof': { username: 'cid', email, emailVerified: false },
  'a proof without an address': { username: 'dan', emailVerified: true },
}

test('a new user is returned as stored, while reads fail', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-users-'))
  const { store } = await openStore(readDatabaseUrl(`sqlite:${join(folder, 'carillon.db')}`))
  t.after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  const passwords = new Passwords({ threads: 4 })
  for (const application of [undefined, 'shop'])
    for (const [name, wanted] of Object.entries(users)) {
      const dependencies = {
        store,
        passwords,
        passwordMinLength: 15,
        erased: async () => undefined,
        now: Date.now,
        application,
      }
      const restore = replaceOperation(store, stored.findUser, async () => {
        throw new CarillonError('UNAVAILABLE', 'The store cannot do this now')
      })
      const username = `${wanted.username}.${application ?? 'none'}`
      const added = await addUser(dependencies, { ...wanted, username })
      restore()
      assert.deepEqual(added, await findUser(dependencies, { id: added.id }), name)
    }
})
