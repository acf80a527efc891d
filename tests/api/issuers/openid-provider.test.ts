// Users sign in at a real OpenID provider, and the inbox opens with its tokens.
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { findUserByExternalId } from '../../../server/users/users.store.ts'
import { EventReader } from '../../support/event-source/event-source.ts'
import { algorithms, clientOf, startOpenIdProvider } from '../../support/network/openid-provider.ts'
import { startTestService } from '../../support/service.ts'

const provider = await startOpenIdProvider()
const app = await startTestService({
  env: {
    CARILLON_ISSUERS: JSON.stringify([
      {
        issuer: provider.url,
        audience: ['bell', clientOf('RS256')],
        algorithms,
        ids: 'issuer',
        createUsers: true,
      },
    ]),
  },
})
after(() => Promise.all([app.stop(), provider.stop()]))
// The provider uses the clock of the machine.
app.pass(Date.now() - app.now())

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const statusOf = async (token: string) =>
  (await app.get('/api/notifications', bearer(token))).status

for (const algorithm of algorithms)
  suite(`tokens with ${algorithm}`, () => {
    test('a user who signed in at the provider has an inbox here, and its stream is live', async () => {
      const { access_token: token } = await provider.signIn('ann', algorithm)
      using stream = await EventReader.of(app.url, bearer(token))
      const user = await app.store.read(findUserByExternalId, {
        issuer: provider.url,
        externalId: 'ann',
      })
      const { key } = await app.producerKey()
      const sent = await app.post(
        '/api/notifications',
        { recipients: [{ userId: user?.id }], title: algorithm },
        bearer(key),
      )
      assert.equal(sent.status, 201, sent.text)
      assert.equal((await stream.next('created')).data.notification.title, algorithm)
      assert.equal((await app.list(bearer(token))).items[0]?.title, algorithm)
    })

    test('tokens with the keys of a rotation are accepted at once, and the earlier keys no longer', async () => {
      const { access_token: before } = await provider.signIn('ann', algorithm)
      const { access_token: unused } = await provider.signIn('ann', algorithm)
      assert.equal(await statusOf(before), 200)
      await provider.rotateKeys()
      // The service reads the keys again at most three times in a row, and then every 10 seconds.
      app.pass(10_000)
      const { access_token: fresh } = await provider.signIn('ann', algorithm)
      assert.equal(await statusOf(fresh), 200)
      assert.equal(await statusOf(unused), 401)
    })
  })

test('an ID token opens the inbox if the audience of the setting has its client, and not otherwise', async () => {
  const listed = await provider.signIn('eve', 'RS256')
  const other = await provider.signIn('eve', 'ES256')
  assert.equal(await statusOf(listed.id_token), 200)
  assert.equal(await statusOf(other.id_token), 401)
  const [first, second] = [listed.id_token, other.access_token].map((token) =>
    app.get('/api/me', bearer(token)),
  )
  assert.equal((await first)?.json().data.user.id, (await second)?.json().data.user.id)
})
