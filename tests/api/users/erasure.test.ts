import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { backUp } from '../../../server/store/transfer/backup.ts'
import { erasedKey } from '../../../server/tokens/tokens.store.ts'
import { deleteUser } from '../../../server/users/erasure/erasure.store.ts'
import { addUser, updateUser } from '../../../server/users/users.store.ts'
import { startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const { key } = await app.producerKey(['send', 'users'])

test('no table has anything of an erased user, but the hash that revokes the tokens, and the MAC of the external id (U2)', async () => {
  const ann = await app.user('quinceberry')
  const bob = await app.user('bob')
  const bobs = await app.signIn(bob, 'stateful')
  await app.store.write(updateUser, {
    userId: ann.id,
    displayName: 'Quincy Berry',
    email: 'quince@example.com',
    locale: 'de',
  })
  const foreign = {
    id: '0199aaaa-0000-7000-8000-00000000f00d',
    username: null,
    displayName: null,
    createdAt: 1,
    passwordHash: null,
    externalId: 'crm|quince',
  }
  await app.store.write(addUser, foreign)
  const send = async (body: object) => {
    const authorization = `Bearer ${key}`
    const response = await app.post('/api/notifications', body, {
      authorization,
      'idempotency-key': crypto.randomUUID(),
    })
    assert.equal(response.status, 201, response.text)
    return response.json().data.results.map(({ id }: { id: string }) => id)
  }
  const names = [
    { username: ann.username },
    { externalId: foreign.externalId },
    { username: bob.username },
  ]
  const sent = [
    ...(await send({ recipients: names, title: 'For all three' })).slice(0, 2),
    ...(await send({
      recipients: names.slice(0, 2),
      title: 'Quince jam',
      body: 'is ready',
      category: 'quinces',
      key: 'quince-key',
    })),
  ]
  const proofs = [await app.signIn(ann, 'stateful'), await app.signIn(ann, 'stateless')] as const
  await app.post('/api/notifications/read-all', undefined, proofs[0])
  for (const userId of [ann.id, foreign.id]) {
    const at = app.now()
    const erased = { key: 'of the database', since: 0 }
    assert.equal(await app.store.write(deleteUser, { userId, at, erased }), 'done')
  }
  assert.equal((await app.get('/api/notifications', proofs[0])).status, 401)
  await app.refused(proofs[1])

  const contents = JSON.stringify(await app.database.tables())
  const words = [ann.id, foreign.id, ...sent, 'quince', 'Quince', 'Quincy', 'is ready']
  for (const word of words) assert.ok(!contents.includes(word), `a table has ${word}`)
  for (const userId of [ann.id, foreign.id]) assert.ok(contents.includes(erasedKey(userId)))
  const backup = join(app.dir, 'after.backup')
  await backUp({
    from: app.databaseSetting,
    file: backup,
    at: new Date(0).toISOString(),
    report: () => () => {},
  })
  const copied = gunzipSync(readFileSync(backup)).toString()
  for (const word of words) assert.ok(!copied.includes(word), `the backup has ${word}`)
  const { items } = await app.list(bobs)
  assert.deepEqual(
    items.map(({ title }) => title),
    ['For all three'],
  )
})

test('an erasure removes the rows of the user from every table that names users (U2)', async () => {
  const ann = await app.user()
  const columns = (await app.database.rows(
    "select m.name as name, c.name as column, c.type from sqlite_schema m join pragma_table_info(m.name) c where m.type = 'table'",
  )) as { name: string; column: string; type: string }[]
  const keyOf = ({ type }: { type: string }) =>
    type === 'BLOB' ? `x'${ann.id.replaceAll('-', '')}'` : `'${ann.id}'`
  const owner = ({ column }: { column: string }) => column === 'user_id' || column === 'owner_id'
  const owned = columns.filter(owner)
  assert.ok(owned.length > 12)
  for (const { name } of owned) {
    const values = columns
      .filter((one) => one.name === name)
      .map((one) => {
        if (owner(one)) return keyOf(one)
        // A row says what it is, and every time of this one is set.
        if (one.column === 'state') return "'snoozed'"
        return one.type === 'TEXT' ? `'of ${ann.username}'` : '1'
      })
    await app.database.change(`insert or ignore into "${name}" values (${values.join()})`)
  }
  const rowsOf = async ({ name, column, type }: (typeof owned)[number]) =>
    (await app.database.rows(`select 1 from "${name}" where ${column} = ${keyOf({ type })}`)).length
  for (const one of owned) assert.ok((await rowsOf(one)) > 0, `no row in ${one.name}`)
  const at = app.now()
  await app.store.write(deleteUser, { userId: ann.id, at })
  for (const one of owned)
    assert.equal(
      await rowsOf(one),
      0,
      `${one.name} has a row of an erased user: delete it in erasure.store.ts`,
    )
})

test('the streams of an erased user end within a second, with a session and with a token', async () => {
  for (const variant of ['stateful', 'stateless'] as const) {
    const ann = await app.user()
    const response = await fetch(`${app.url}/api/notifications/stream`, {
      headers: await app.signIn(ann, variant),
    })
    assert.equal(response.status, 200)
    const text = response.text()
    const at = app.now()
    await app.store.write(deleteUser, { userId: ann.id, at })
    assert.match(await text, /event: session-ended\n/)
  }
})
