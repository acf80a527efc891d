import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { hash, verify } from '@node-rs/argon2'
import { newId } from '../../../server/basics/ids.ts'
import { usualCost } from '../../../server/passwords/passwords.ts'
import { addUser, findCredentials } from '../../../server/users/users.store.ts'
import { startTestService } from '../../support/service.ts'

const app = await startTestService({ hashCost: usualCost })
after(() => app.stop())

const password = 'plum orchard gate 41'
/** server/passwords/imported-hash.test.ts names the programs. */
const hashes = {
  bcrypt: '$2b$04$kar19022FZikZ1QluB359u1HH/a5S0sSuf3kGyuhU3GXIF6CjAe1O',
  scrypt:
    '$scrypt$ln=10,r=8,p=1$nhOC0Fpr7X0PYcz5P0cIoQ$ri2FqDS5HYz2/VQN0FSXBSesJ+/VBQs9JWqAWP3shrg',
  argon2:
    '$argon2i$v=19$m=1024,t=1,p=2$MDEyMzQ1Njc4OWFiY2RlZg$adSvU1kzhsV1RCrPHFZhiWR3v85WV1iVAsb533YBp0s',
  PBKDF2: 'pbkdf2_sha256$1000$abcSALT0123$plMWdRT3n0dU/MFMMdQfZ1lY/VmhM4HaLs95KhuXXeg=',
}

async function imported(username: string, passwordHash: string) {
  const user = {
    id: newId(app.now()),
    username,
    passwordHash,
    displayName: null,
    createdAt: app.now(),
  }
  await app.store.write(addUser, user)
  return { id: user.id, username, password }
}

const hashOf = async (username: string) =>
  (await app.store.read(findCredentials, username))?.passwordHash ?? ''

for (const [kind, passwordHash] of Object.entries(hashes))
  test(`a user with an imported ${kind} hash signs in, and has a hash of ours afterwards; earlier proofs stay valid (U4)`, async () => {
    const user = await imported(kind.toLowerCase(), passwordHash)
    const proof = await app.signIn(user, 'stateful')
    const replaced = await hashOf(user.username)
    assert.match(replaced, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    await app.signIn(user, 'stateless')
    assert.equal(await hashOf(user.username), replaced)
    assert.equal((await app.get('/routeRestreinte', proof)).status, 200)
  })

test('a hash of ours with an earlier cost is replaced at the next sign-in, also if the password is not sent as it was hashed', async () => {
  const text = 'cafe\u0301 orchard gate 41'
  for (const [username, sent] of [
    ['composed', text.normalize('NFC')],
    ['decomposed', text],
  ] as const) {
    const before = await hash(text.normalize('NFC'), {
      algorithm: 2,
      memoryCost: 8_192,
      timeCost: 1,
      parallelism: 1,
    })
    const user = { ...(await imported(username, before)), password: sent }
    assert.equal((await app.post('/login', { username, password: `${sent}.` })).status, 401)
    assert.equal(await hashOf(username), before)
    const proof = await app.signIn(user, 'stateful')
    const replaced = await hashOf(username)
    assert.match(replaced, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    assert.ok(await verify(replaced, text.normalize('NFC')))
    assert.equal((await app.get('/api/me', proof)).status, 200)
    await app.signIn({ ...user, password: text.normalize('NFC') }, 'stateful')
    assert.equal(await hashOf(username), replaced)
  }
})

test('a wrong password of a user with an imported hash is refused as that of every user, and the hash stays', async () => {
  const user = await imported('wrong', hashes.bcrypt)
  const known = await app.post('/login', { username: 'wrong', password: 'cherry orchard gate 41' })
  const unknown = await app.post('/login', {
    username: 'nobody',
    password: 'cherry orchard gate 41',
  })
  const withoutId = ({ requestId: _, ...error }: Record<string, unknown>) => error
  assert.equal(known.status, 401)
  assert.deepEqual(withoutId(known.json().error), withoutId(unknown.json().error))
  assert.equal(await hashOf(user.username), hashes.bcrypt)
})
