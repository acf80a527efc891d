// In a real Chromium with a virtual authenticator, the code of docs/sign-in/passkeys.js creates a
// passkey and signs in with it, as the only proof and as a second factor.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import type * as Client from '../../../client/carillon-client.ts'
import { Chromium } from '../../support/chromium.ts'
import { virtualAuthenticator } from '../../support/passkeys.ts'
import { startTestService, type TestUser, variants } from '../../support/service.ts'

const service = await startTestService()
after(() => service.stop())
const localhost = service.url.replace('127.0.0.1', 'localhost')

/** The functions of the documentation, as a classic script. */
const documentedCode = readFileSync('docs/sign-in/passkeys.js', 'utf8').replaceAll(
  'export async',
  'async',
)
type Documented =
  | 'addPasskey'
  | 'signInWithPasskey'
  | 'completeWithPasskey'
  | 'confirmWithPasskey'
  | 'post'
type Responded = { status: number; body: ReturnType<typeof JSON.parse> }

for (const variant of variants)
  test(`a user creates a passkey in a browser, and it signs in without a password and as a second factor (${variant}, A17)`, async () => {
    await using browser = await Chromium.start()
    const ann = await service.user()
    const { page } = await pageAt(browser, localhost)
    assert.equal((await signIn(page, ann)).status, 200)

    const added = await call(page, 'addPasskey', 'My laptop')
    assert.equal(added.status, 201, JSON.stringify(added.body))
    const { kind, label, recoveryCodes } = added.body.data
    assert.deepEqual([kind, label, recoveryCodes.length], ['passkey', 'My laptop', 10])

    const alone = await call(page, 'signInWithPasskey', { variant })
    assert.equal(alone.status, 200, JSON.stringify(alone.body))
    assert.deepEqual([alone.body.User.id, alone.body.variant], [ann.id, variant])
    await provesUser(page, ann, alone.body.token)

    const waiting = await signIn(page, ann, variant)
    const { code, factors, challenge } = waiting.body.error
    assert.deepEqual(
      [waiting.status, code, factors],
      [401, 'SECOND_FACTOR_REQUIRED', ['passkey', 'recovery-code']],
    )
    const completed = await call(page, 'completeWithPasskey', challenge)
    assert.equal(completed.status, 200, JSON.stringify(completed.body))
    assert.deepEqual([completed.body.User.id, completed.body.variant], [ann.id, variant])
    await provesUser(page, ann, completed.body.token)
    assert.deepEqual(browser.uncaught, [])
  })

test('the client completes a sign-in by a passkey, for which it asks the browser (A17)', async () => {
  await using browser = await Chromium.start()
  const ann = await service.user()
  const { page, verifies } = await pageAt(browser, localhost)
  assert.equal((await signIn(page, ann)).status, 200)
  assert.equal((await call(page, 'addPasskey', 'One')).status, 201)
  const bySecondFactor = (credentials: Pick<TestUser, 'username' | 'password'>) =>
    page.evaluate(async ({ username, password }) => {
      const file = '/carillon-client.js'
      const { createCarillon, isCarillonError }: typeof Client = await import(file)
      const carillon = createCarillon()
      await carillon.logout()
      const demanded: unknown = await carillon
        .login({ username, password, variant: 'stateful' })
        .catch((error) => error)
      if (!isCarillonError(demanded, 'SECOND_FACTOR_REQUIRED')) throw demanded
      await carillon.completeSignIn({ challenge: demanded.challenge })
      return [demanded.factors, (await carillon.me())?.user.id]
    }, credentials)
  assert.deepEqual(await bySecondFactor(ann), [['passkey', 'recovery-code'], ann.id])
  await verifies(false)
  await assert.rejects(bySecondFactor(ann), /NotAllowedError/)
})

test('a passkey makes a sign-in fresh again (A18); an authenticator creates no second one, and signs nothing without verifying its user', async () => {
  await using browser = await Chromium.start()
  const { page, verifies } = await pageAt(browser, localhost)
  assert.equal((await signIn(page, await service.user())).status, 200)
  assert.equal((await call(page, 'addPasskey', 'One')).status, 201)
  await assert.rejects(call(page, 'addPasskey', 'Two'), /InvalidStateError/)
  const options = () => call(page, 'post', '/api/me/factors/passkeys/options')
  service.pass(10 * 60_000 + 1)
  const stale = await options()
  assert.deepEqual([stale.status, stale.body.error.code], [403, 'FRESH_SIGN_IN_REQUIRED'])
  assert.equal((await call(page, 'confirmWithPasskey')).status, 204)
  assert.equal((await options()).status, 200)
  await verifies(false)
  await assert.rejects(call(page, 'signInWithPasskey'), /NotAllowedError/)
})

test('on http://127.0.0.1 the error says to use localhost', async () => {
  await using browser = await Chromium.start()
  const { page } = await pageAt(browser, service.url)
  assert.equal((await signIn(page, await service.user())).status, 200)
  for (const path of ['/login/passkey/options', '/api/me/factors/passkeys/options']) {
    const refused = await call(page, 'post', path)
    assert.deepEqual([refused.status, refused.body.error.code], [422, 'UNPROCESSABLE'])
    assert.ok(
      refused.body.error.message.includes(`Use ${localhost} instead.`),
      refused.body.error.message,
    )
  }
})

async function pageAt(browser: Chromium, origin: string) {
  const body = `<!doctype html><title>Passkeys</title><script>${documentedCode}</script>`
  await browser.context.route(`${origin}/passkeys.html`, (route) =>
    route.fulfill({ contentType: 'text/html', body }),
  )
  const page = await browser.page(`${origin}/passkeys.html`)
  return { page, verifies: await virtualAuthenticator(page) }
}

function call(page: Page, name: Documented, ...values: unknown[]): Promise<Responded> {
  const calls = ([called, given]: [string, unknown[]]) => {
    const functions = globalThis as unknown as Record<
      string,
      (...values: unknown[]) => Promise<Responded>
    >
    return (functions[called] as (typeof functions)[string])(...given)
  }
  return page.evaluate(calls, [name, values] as [string, unknown[]])
}

function signIn(
  page: Page,
  { username, password }: TestUser,
  variant?: string,
): Promise<Responded> {
  return call(page, 'post', '/login', { username, password, variant })
}

/** By the token, or by the cookie that the browser has. */
async function provesUser(page: Page, { id }: TestUser, token: string | undefined): Promise<void> {
  const cookies = (await page.context().cookies()).map(({ name }) => name)
  assert.equal(cookies.includes('carillon'), token === undefined)
  const who = await page.evaluate(async (bearer) => {
    const headers: HeadersInit = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }
    return (await fetch('/routeRestreinte', { headers })).json()
  }, token)
  assert.deepEqual(
    [who.data?.userId, who.data?.proof],
    [id, token === undefined ? 'session' : 'access-token'],
  )
}
