// Another user's browser, or a sign-in that has ended, links nothing.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  addProviderUser,
  linkProviderAccount,
  providerAccounts,
} from '../../../server/providers/provider-accounts.store.ts'
import { replaceOperation } from '../../../server/store/testing/operations.ts'
import { disableUser, setPassword } from '../../../server/users/access/user-changes.store.ts'
import { enableUser } from '../../../server/users/users.store.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { type ProviderBrowser, startWithProvider } from '../../support/http/provider-browser.ts'
import { type Proof, type TestUser, variants } from '../../support/service.ts'

const { app, provider, browser, stop } = await startWithProvider({ displayName: 'Example Staff' })
after(stop)

/** With the proof of its requests to the API. */
async function signedIn(user: TestUser, variant: 'stateful' | 'stateless') {
  const page = browser()
  const proof = await app.signIn(user, variant)
  if (proof.cookie !== undefined) page.jar.set('carillon', proof.cookie.split('=')[1] ?? '')
  /** The browser's cookie of now, or the token for the code in its address. */
  const current = async (location: string | undefined = '') => {
    const code = new URLSearchParams(location.split('#')[1] ?? '').get('sign-in-code')
    if (code === null) return { ...proof, ...page.proof }
    const got = await app.post('/login/with/staff', { code }, page.proof)
    assert.equal(got.status, 200, got.text)
    page.keep(got)
    return { authorization: `Bearer ${got.json().token}` }
  }
  return { page, proof, current }
}

async function beginLink(
  page: ProviderBrowser,
  proof: Proof,
  body: object = { returnTo: '/settings' },
) {
  const begun = await app.post('/api/me/providers/staff/link', body, proof)
  page.keep(begun)
  return {
    status: begun.status,
    url: begun.status === 201 ? (begun.json().data.url as string) : '',
    response: begun,
  }
}

for (const variant of variants)
  test(`a user links an account, signs in with it, and unlinks it, ${variant}`, async () => {
    const subject = `ann-${variant}`
    provider.claims.set(subject, { email: 'ann@elsewhere.example', email_verified: true })
    const user = await app.user()
    const { page, proof: first, current } = await signedIn(user, variant)
    assert.equal((await browser().signIn('staff', subject)).status, 403)
    const { status, url } = await beginLink(page, first)
    assert.equal(status, 201)
    const back = await page.comeBack(url, subject)
    assert.deepEqual([back.status, back.location?.split('#')[0]], [303, '/settings'])
    const proof = await current(back.location)
    assert.deepEqual(page.begun, [])
    const { exchange } = app
    const copy = await exchange('/routeRestreinte', { fields: Object.entries(first) })
    assert.equal(copy.status, 401, 'the proof from before the link is refused (S17)')
    const { items } = (await app.get('/api/me/providers', proof)).json().data
    assert.deepEqual(
      items.map(({ provider: name, displayName, email }: Record<string, string>) => [
        name,
        displayName,
        email,
      ]),
      [['staff', 'Example Staff', 'ann@elsewhere.example']],
    )
    const other = browser()
    assert.equal((await other.signIn('staff', subject)).status, 303)
    assert.equal((await app.get('/api/me', other.proof)).json().data.user.id, user.id)
    const unlink = () =>
      app.request('/api/me/providers/staff', { method: 'DELETE', headers: proof })
    assert.equal((await unlink()).status, variant === 'stateful' ? 204 : 200)
    const notices = (await app.get('/api/notifications?category=security', proof)).json().data.items
    assert.deepEqual(
      notices.map(({ title }: { title: string }) => title),
      [
        'An account at another service was unlinked from yours',
        'An account at another service was linked to yours',
      ],
    )
    assert.equal(refusalIn(await unlink()).code, 'NOT_FOUND')
    assert.equal((await browser().signIn('staff', subject)).status, 403)
  })

test('an account of another user is not linked, and neither is a second one of the provider (P4)', async () => {
  const ann = await app.user()
  const ben = await app.user()
  const ofAnn = await signedIn(ann, 'stateful')
  const back = await ofAnn.page.comeBack((await beginLink(ofAnn.page, ofAnn.proof)).url, 'taken')
  const ofBen = await signedIn(ben, 'stateful')
  const taken = await ofBen.page.comeBack((await beginLink(ofBen.page, ofBen.proof)).url, 'taken')
  assert.deepEqual([refusalIn(taken).code, taken.status], ['CONFLICT', 409])
  const ownLink = await beginLink(ofAnn.page, await ofAnn.current(back.location))
  const second = await ofAnn.page.comeBack(ownLink.url, 'second')
  assert.match(
    refusalIn(second).message,
    /^Another account at Example Staff is linked to you already/,
  )
  assert.deepEqual((await app.get('/api/me/providers', ofBen.proof)).json().data.items, [])
})

test('a sign-in that ended while the user was at the provider links nothing', async () => {
  const user = await app.user()
  const endings = [
    async (proof: Proof) => app.post('/logout', undefined, proof),
    async () => {
      const change = { userId: user.id, at: app.now() }
      await app.store.write(disableUser, change)
      await app.store.write(enableUser, change)
    },
  ]
  for (const end of endings) {
    const { page, proof } = await signedIn(user, 'stateful')
    const { url } = await beginLink(page, proof)
    const wayBack = await page.wayBack(url, 'ended')
    await end(proof)
    assert.equal(refusalIn(await page.send(wayBack)).code, 'FORBIDDEN')
  }
  assert.deepEqual(await app.store.read(providerAccounts, user.id), [])
})

test('another browser cannot finish it: no attacker links an account of a victim (P2)', async () => {
  const { page, proof } = await signedIn(await app.user(), 'stateful')
  const { url } = await beginLink(page, proof)
  const victim = browser()
  const wayBack = await victim.wayBack(url, 'victim')
  assert.equal(refusalIn(await victim.send(wayBack)).code, 'INVALID_REQUEST')
})

test('it needs a sign-in of the last ten minutes', async () => {
  const { page, proof } = await signedIn(await app.user(), 'stateful')
  app.pass(10 * 60_000 + 1_000)
  const { response } = await beginLink(page, proof)
  assert.equal(refusalIn(response).code, 'FRESH_SIGN_IN_REQUIRED')
  const removed = await app.request('/api/me/providers/staff', {
    method: 'DELETE',
    headers: proof,
  })
  assert.equal(refusalIn(removed).code, 'FRESH_SIGN_IN_REQUIRED')
})

test('a link that began with the cookie is not finished with a token of the session, which would leave the cookie as it is (S17)', async () => {
  const user = await app.user()
  const { page, proof } = await signedIn(user, 'stateful')
  const { token } = (await app.post('/api/me/token', undefined, proof)).json().data
  const wayBack = await page.wayBack((await beginLink(page, proof)).url, 'by-token')
  const refused = await page.send(wayBack, { authorization: `Bearer ${token}` })
  assert.equal(refusalIn(refused).code, 'FORBIDDEN')
  assert.deepEqual(await app.store.read(providerAccounts, user.id), [])
})

test('of two links at the same time with one proof, one changes nothing: the sign-in that began it has ended (S17)', async () => {
  const { page, proof } = await signedIn(await app.user(), 'stateful')
  const wayBack = await page.wayBack((await beginLink(page, proof)).url, 'at-once')
  const restore = replaceOperation(app.store, linkProviderAccount, async (link, run) => {
    const password = {
      userId: link.userId,
      passwordHash: 'another',
      at: app.now(),
      rotation: link.rotation,
    }
    assert.equal(await app.store.write(setPassword, password), 'done')
    return run()
  })
  const late = await page.send(wayBack)
  restore?.()
  assert.deepEqual([late.status, refusalIn(late).code], [403, 'FORBIDDEN'])
})

test('a session of another user in the same browser links nothing', async () => {
  const ann = await app.user()
  const ben = await app.user()
  const { page, proof } = await signedIn(ann, 'stateful')
  const { url } = await beginLink(page, proof)
  const wayBack = await page.wayBack(url, 'swapped')
  page.jar.set('carillon', (await app.signIn(ben, 'stateful')).cookie?.split('=')[1] ?? '')
  assert.equal(refusalIn(await page.send(wayBack)).code, 'FORBIDDEN')
  for (const { id } of [ann, ben]) assert.deepEqual(await app.store.read(providerAccounts, id), [])
})

test('the last way to sign in cannot be unlinked (P4)', async () => {
  const id = '01900000-0000-7000-8000-000000000001'
  const account = {
    issuer: provider.url,
    subject: 'only',
    newId: id,
    displayName: null,
    email: null,
    at: app.now(),
  }
  await app.store.write(addProviderUser, account)
  const only = browser()
  await only.signIn('staff', 'only')
  const removed = await app.request('/api/me/providers/staff', {
    method: 'DELETE',
    headers: only.proof,
  })
  assert.deepEqual([removed.status, refusalIn(removed).code], [409, 'CONFLICT'])
  assert.equal((await browser().signIn('staff', 'only')).status, 303)
})

test('an invalid place to return to is refused', async () => {
  const user = await app.user()
  const { response } = await beginLink(browser(), await app.signIn(user, 'stateful'), {
    returnTo: '//evil.example',
  })
  assert.deepEqual(refusalIn(response).details?.[0]?.field, 'returnTo')
})
