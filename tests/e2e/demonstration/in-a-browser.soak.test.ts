// What only a browser decides about the demonstration: which cookies it keeps and sends, and what a script can read; below a path that a proxy
// strips, and with a prefix.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { BrowserPages } from '../../support/pages/browser-page.ts'
import { WalkPage } from '../../support/pages/walk-page.ts'
import { startBehindPath } from '../../support/proxies/stripping-proxy.ts'

const behind = await startBehindPath('/bell', { CARILLON_PAGES_PREFIX: '/hello' })
const pages = await BrowserPages.start({ service: behind.service, url: behind.url })
// The tests share a profile, whose first tab stays open.
const beside = await pages.open('/hello/sign-in')
after(async () => {
  await beside[Symbol.asyncDispose]()
  await pages[Symbol.asyncDispose]()
  await behind.stop()
})

/** A page without a script of its own, in a profile with a visit and both lanes signed in. */
async function openVisit() {
  const user = await behind.service.user()
  const opened = await pages.open('/hello/account', { user, beside })
  const visit = await opened.page.evaluate(async () => {
    const json = { 'content-type': 'application/json' }
    const started = await (await fetch('demonstration/visits', { method: 'POST' })).json()
    const { id, user: credentials } = started.data
    const body = (variant: string) => JSON.stringify({ ...credentials, variant })
    const headers = { ...json, 'carillon-visit': id }
    const login = 'demonstration/service/login'
    await fetch(login, { method: 'POST', headers, body: body('stateful') })
    const omitted = { credentials: 'omit', method: 'POST' } as const
    const token = (
      await (await fetch(login, { ...omitted, headers, body: body('stateless') })).json()
    ).token as string
    return { id: id as string, token }
  })
  return { opened, user, ...visit }
}

test('the browser sends the cookies of a world to the demonstration only, and no script can read them (S13)', async () => {
  const { opened, id } = await openVisit()
  await using _ = opened
  const cookies = (await opened.context.cookies(`${behind.url}/hello/demonstration`)).map(
    ({ name, path }) => [name, path],
  )
  for (const name of ['carillon-visit', 'carillon-demonstration', 'carillon-demonstration-device'])
    assert.deepEqual(
      cookies.find(([one]) => one === name),
      [name, '/bell/hello/demonstration'],
    )
  const elsewhere = (await opened.context.cookies(`${behind.url}/api/me`)).map(({ name }) => name)
  assert.deepEqual(elsewhere.sort(), ['carillon', 'carillon-device'])
  const seen = await opened.page.evaluate(async (visit) => {
    const response = await fetch('demonstration/service/routeRestreinte', {
      headers: { 'carillon-visit': visit },
    })
    const n = response.headers.get('carillon-exchange')
    const { data } = await (await fetch(`demonstration/exchanges/${n}`)).json()
    return {
      status: response.status,
      cookie: document.cookie,
      fields: data.request.fields as [string, string][],
    }
  }, id)
  assert.deepEqual([seen.status, seen.cookie], [200, ''])
  const [, sent = ''] = seen.fields.find(([name]) => name.toLowerCase() === 'cookie') ?? []
  assert.match(sent, /carillon=…/)
  assert.match(sent, /carillon-demonstration=[\w.-]{60}/)
})

test('in the token lane the browser sends no cookie', async () => {
  const { opened, id, token } = await openVisit()
  await using _ = opened
  const fields = await opened.page.evaluate(
    async ([visit = '', proof]) => {
      const headers = { 'carillon-visit': visit, authorization: `Bearer ${proof}` }
      const response = await fetch('demonstration/service/routeRestreinte', {
        credentials: 'omit',
        headers,
      })
      const n = response.headers.get('carillon-exchange')
      return (await (await fetch(`demonstration/exchanges/${n}`)).json()).data.request.fields as [
        string,
        string,
      ][]
    },
    [id, token],
  )
  const names = fields.map(([name]) => name.toLowerCase())
  assert.ok(names.includes('authorization') && !names.includes('cookie'), names.join())
})

test("starting, starting afresh and signing out in the demonstration leaves the visitor's own session as it was (S14)", async () => {
  const { opened, user, id } = await openVisit()
  await using _ = opened
  const before = await opened.context.cookies(`${behind.url}/api/me`)
  const me = await opened.page.evaluate(async (visit) => {
    const signOut = (named: string) =>
      fetch('demonstration/service/logout', {
        method: 'POST',
        headers: { 'carillon-visit': named },
      })
    await signOut(visit)
    const started = await (await fetch('demonstration/visits', { method: 'POST' })).json()
    await signOut(started.data.id)
    return (await (await fetch('../api/me')).json()).data.user.username as string
  }, id)
  assert.equal(me, user.username)
  assert.deepEqual(await opened.context.cookies(`${behind.url}/api/me`), before)
})

test('the walk works with a prefix of the pages behind a proxy that strips a path; its cookies stay below it', async () => {
  await using walk = await WalkPage.open(pages, '/hello/demonstration#inbox')
  await walk.arrived('inbox')
  walk.opened.expects(/^401 /)
  for (const lane of ['session', 'token'] as const)
    assert.deepEqual(await walk.statuses(lane), [200, 204, 204])
  for (const { name, path } of await walk.opened.context.cookies())
    assert.equal(path, '/bell/hello/demonstration', name)
})
