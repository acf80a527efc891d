// The session of a visitor ends only if the new sign-in succeeds.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { linkProviderAccount } from '../../../server/providers/provider-accounts.store.ts'
import { factsIn, startWithProvider } from '../../support/http/provider-browser.ts'
import { carefulUser } from '../../support/sign-in/authenticator.ts'

const { app, provider, browser, stop } = await startWithProvider({})
after(stop)

async function link(userId: string, subject: string): Promise<void> {
  const account = { issuer: provider.url, subject, userId, email: null, at: app.now(), audit: [] }
  assert.equal(await app.store.write(linkProviderAccount, account), 'done')
}

async function visitor() {
  const user = await app.user()
  const own = browser()
  own.keep(
    await app.post('/login', {
      username: user.username,
      password: user.password,
      variant: 'stateful',
    }),
  )
  const session = `carillon=${own.jar.get('carillon')}`
  const isAlive = async () => (await app.get('/api/me', { cookie: session })).status === 200
  const keepsIt = async (what: string) => {
    assert.ok(await isAlive(), what)
    assert.equal(`carillon=${own.jar.get('carillon')}`, session, what)
  }
  return { own, isAlive, keepsIt }
}

for (const variant of ['stateful', 'stateless'] as const)
  test(`${variant}: a sign-in that begins, fails, or waits leaves the running session as it was (P2, S3)`, async () => {
    const { own, keepsIt, isAlive } = await visitor()
    const query = `?variant=${variant}&return_to=/app`
    await own.start('staff', query)
    await keepsIt('begun')
    const cancelled = await own.start('staff', query)
    const back = await own.send(await provider.cancel(cancelled.location, `${app.url}/login/with/`))
    assert.equal(back.status, 403)
    await keepsIt('cancelled')
    assert.equal((await own.signIn('staff', `unknown-${variant}`, query)).status, 403)
    await keepsIt('an unknown account')
    const state = new URL((await own.start('staff', query)).location).searchParams.get('state')
    assert.ok(
      (await own.send(`/login/with/staff/callback?code=made-up&state=${state}`)).status >= 400,
    )
    await keepsIt('a made-up code')

    const careful = await carefulUser(app)
    await link(careful.id, `careful-${variant}`)
    const { location } = await own.signIn('staff', `careful-${variant}`, query)
    await keepsIt('waits for the code or the second factor')
    const facts = factsIn(location)
    let challenge = facts.challenge
    if (variant === 'stateless') {
      const waiting = await app.post(
        '/login/with/staff',
        { code: facts['sign-in-code'] },
        own.proof,
      )
      assert.equal(waiting.status, 401)
      challenge = waiting.json().error.challenge
      await keepsIt('waits for the second factor')
    }
    const wrong = await app.post('/login/second-factor', { challenge, code: '000000' }, own.proof)
    assert.equal(wrong.status, 401)
    await keepsIt('a wrong code')
    const right = { challenge, code: careful.app.code(app.now()) }
    assert.equal((await app.post('/login/second-factor', right, own.proof)).status, 200)
    assert.ok(!(await isAlive()))
  })
