// Each refusal has its cause in the picture: the recorded call that decided it.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { noteOnForm } from '../../../demonstration/page/experiments/experiments.ts'
import { hopsOf } from '../../../demonstration/page/picture/hops.ts'
import { sessionEnds } from '../../../demonstration/page/picture/picture.ts'
import { cookieSetBy } from '../../../demonstration/page/proof/proof-parts.ts'
import type { Exchange } from '../../../demonstration/server/api.ts'
import { maxRequests } from '../../../demonstration/server/world.ts'
import { idleMs } from '../../../demonstration/server/worlds.ts'
import { demonstrationTexts } from '../../../demonstration/texts/texts.ts'
import { readConfig } from '../../../server/config/read.ts'
import { pageLanguages } from '../../../server/pages/texts/texts.ts'
import { demonstrationHere } from '../../support/demonstration/demonstration-here.ts'

const demonstration = await demonstrationHere()
after(() => demonstration.stop())
const visitor = await demonstration.from('192.0.2.1').again()
beforeEach(() => visitor.again())
const texts = demonstrationTexts('en')
const cookieName = 'carillon-demonstration'

/** On the arrows and beside the numbers, and the tone of the response. */
function drawn(exchange: Exchange): string[] {
  const hops = hopsOf(exchange, { texts, language: 'en', cookieName }).slice(1)
  return [...hops.map(({ label }) => label), hops.at(-1)?.tone ?? '']
}

async function byThief(
  proof: 'session' | 'token',
  path: string,
  method = 'GET',
): Promise<Exchange> {
  const { n } = await visitor.done<{ n: number }>('thief', { proof, method, path })
  return visitor.exchangeOf(n)
}

test('what a thief gets is red, and what is refused to a thief is green and has its cause', async () => {
  const token = await visitor.signIn()
  await visitor.done('steal', { token })
  const here = 'service/routeRestreinte'
  const gets = ['200 · the thief gets in', 'bad']
  assert.deepEqual(drawn(await byThief('session', here)), ['look up session', ...gets])
  assert.deepEqual(drawn(await byThief('token', here)), [
    'check signature',
    'search revocations',
    ...gets,
  ])
  await visitor.session('logout', { method: 'POST' })
  await visitor.token('logout', token, { method: 'POST' })
  const refused = ['401 · refused', 'good']
  assert.deepEqual(drawn(await byThief('session', here)), ['no such session row', ...refused])
  assert.deepEqual(drawn(await byThief('token', here)), [
    'check signature',
    'found in revocations',
    ...refused,
  ])
  assert.deepEqual(drawn(await byThief('session', 'other-server/me')), [
    'not a signed token',
    ...refused,
  ])
  assert.deepEqual(drawn(await byThief('token', 'other-server/me')), ['check signature', ...gets])
  await visitor.done('advance', { seconds: 16 * 60 })
  assert.deepEqual(drawn(await byThief('token', 'other-server/me')), [
    'its time is over',
    ...refused,
  ])
})

test('what is refused to the owner is red and has its cause', async () => {
  const token = await visitor.signIn()
  const [head, , signature] = token.split('.')
  const forged = [head, Buffer.from('{"sub":"admin"}').toString('base64url'), signature].join('.')
  assert.deepEqual(
    drawn(await visitor.exchange(await visitor.without('other-server/me', forged))),
    ['wrong signature', '401', 'bad'],
  )
  await visitor.done('outage', { seconds: 10 })
  const away = await visitor.exchange(await visitor.session('routeRestreinte'))
  assert.deepEqual(drawn(away), ['does not respond', '503', 'bad'])
  await visitor.done('outage', { seconds: 0 })
  await visitor.done('advance', { seconds: 16 * 60 })
  const late = await visitor.exchange(await visitor.token('routeRestreinte', token))
  assert.deepEqual(drawn(late), ['its time is over', '401', 'bad'])
  await visitor.done('advance', { seconds: 8 * 24 * 3_600 })
  const unused = await visitor.exchange(await visitor.session('routeRestreinte'))
  assert.deepEqual(drawn(unused), ['look up session', 'the row is too old', '401', 'bad'])
})

/** Some browsers send the cookies of the page that frames it. */
async function formSent(isWithCookie: boolean): Promise<Exchange> {
  const path = `service/api/notifications/read-all?visit=${visitor.id}`
  const headers = {
    origin: 'http://localhost:7464',
    'content-type': 'application/x-www-form-urlencoded',
  }
  const cookies = new Map(visitor.cookies)
  if (!isWithCookie) visitor.cookies.clear()
  const response = await visitor.send(path, { method: 'POST', headers })
  for (const [name, value] of cookies) visitor.cookies.set(name, value)
  return visitor.exchange(response)
}

test('the sentence about the form follows the recording: a browser that sends the cookie is refused by the origin check', async () => {
  await visitor.signIn()
  const without = await formSent(false)
  assert.equal(noteOnForm(without, cookieName), 'formWithoutCookie')
  const sent = await formSent(true)
  assert.equal(sent.by, 'other-site')
  assert.match(sent.response.line, / 403 /)
  assert.equal(noteOnForm(sent, cookieName), 'formWithCookie')
  assert.deepEqual(drawn(sent), ['another site’s origin', '403 · refused', 'good'])
})

test('the cookie has the user id and a secret, as the page says', async () => {
  const body = { ...visitor.user, variant: 'stateful' }
  const signIn = await visitor.exchange(await visitor.session('login', { method: 'POST', body }))
  const { User } = JSON.parse(signIn.response.body) as { User: { id: string } }
  const parts = new Map(cookieSetBy(signIn, cookieName).map(({ name, value }) => [name, value]))
  assert.equal(parts.get('user'), User.id)
  assert.equal(Buffer.from(parts.get('secret') ?? '', 'base64url').length, 32)
  assert.match(texts.follows['sign-in'], /your user id and a secret/)
})

test('times and limits in the sentences are those of the code, in each language', () => {
  const ten = { en: /ten minutes/, de: /zehn Minuten/i, fr: /dix minutes/ }
  assert.equal(idleMs, 10 * 60_000)
  for (const language of pageLanguages) {
    const { ownWorld, troubles } = demonstrationTexts(language)
    assert.match(ownWorld, ten[language])
    assert.match(troubles.gone, ten[language])
    assert.equal(
      troubles.tooMany.match(/\d[\d\s.,]*\d/)?.[0].replaceAll(/\D/g, ''),
      String(maxRequests),
    )
  }
  const { sessionIdleMs, sessionLifetimeMs, tokenChainMs, tokenLifetimeMs } = readConfig({})
  assert.deepEqual([tokenChainMs, tokenLifetimeMs], [12 * 3_600_000, 15 * 60_000])
  assert.match(texts.follows.time, /for 7 days after each use, 30 in all; .* renewed for 12 hours/)
  assert.deepEqual(sessionEnds, { unusedMs: sessionIdleMs, allMs: sessionLifetimeMs })
  assert.match(texts.notes.unnoticed.session, /by 7 days, up to 30 days/)
})
