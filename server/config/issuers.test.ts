import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { CarillonError } from '../basics/errors.ts'
import { readIssuers } from './issuers.ts'
import { readConfig } from './read.ts'

const entry = { issuer: 'https://id.example', audience: 'bell', algorithms: ['RS256'] }
const read = (...entries: unknown[]) => readIssuers(JSON.stringify(entries))

function problemOf(text: string): string {
  try {
    readIssuers(text)
  } catch (error) {
    assert.ok(error instanceof CarillonError)
    return error.message
  }
  assert.fail(`${text} was accepted`)
}

test('ids are plain with a single issuer and belong to their issuer with several, unless the entry says otherwise', () => {
  assert.deepEqual(readIssuers('none'), [])
  assert.deepEqual(
    read(entry).map(({ ownIds }) => ownIds),
    [false],
  )
  assert.deepEqual(
    read({ ...entry, ids: 'issuer' }).map(({ ownIds }) => ownIds),
    [true],
  )
  const two = read(
    entry,
    { ...entry, issuer: 'https://b.example' },
    { ...entry, issuer: 'https://c.example', ids: 'plain' },
  )
  assert.deepEqual(
    two.map(({ ownIds }) => ownIds),
    [true, true, false],
  )
})

test('an issuer may be any text if the entry has the address of its keys, and may have several audiences', () => {
  const [first] = read({
    ...entry,
    issuer: 'our shop',
    audience: ['web', 'app'],
    jwks: 'http://[::1]:3000/keys?a=b',
  })
  assert.deepEqual(
    [first?.issuer, first?.audiences, first?.jwks],
    ['our shop', ['web', 'app'], 'http://[::1]:3000/keys?a=b'],
  )
})

test('the error for each mistake names the entry, the member and what to write (L7)', () => {
  const mistakes: [member: string, wrong: unknown[], problem: RegExp][] = [
    ['issuer', [undefined, 7], /^entry 1: "issuer" is required: write the text of the claim iss/],
    [
      'issuer',
      ['shop'],
      /^entry 1: "issuer" is "shop", which is no URL .* or give the address of its key set as "jwks"/,
    ],
    [
      'issuer',
      ['http://id.example'],
      /plain http beyond this machine, where others .* write an https URL/,
    ],
    [
      'jwks',
      ['http://id.example/keys'],
      /^entry 1: "jwks" is "http:\/\/id.example\/keys": plain http beyond/,
    ],
    [
      'jwks',
      ['https://user:pw@id.example/keys', 'file:///etc/keys'],
      /^entry 1: "jwks" .* is no URL to read keys from/,
    ],
    ['jwks', [null], /^entry 1: "jwks" is not a text/],
    [
      'origins',
      [['https://keys.example/a']],
      /^entry 1: "origins": write a list of https origins, such as/,
    ],
    [
      'audience',
      [undefined, [], ['bell', '']],
      /^entry 1: "audience" is required: write the text that the claim aud has/,
    ],
    [
      'algorithms',
      [undefined, ['HS256'], ['none'], [], 'RS256'],
      /^entry 1: "algorithms" is required: .* of RS256, ES256, EdDSA$/,
    ],
    ['claim', [''], /^entry 1: "claim": write the name of one claim/],
    ['ids', ['mine'], /^entry 1: "ids": write "plain" or "issuer"/],
    [
      'application',
      ['Shop', 'a_b', '', 'a'.repeat(65), 7],
      /^entry 1: "application": write 1 to 64 of the characters a-z, 0-9 and -/,
    ],
    ['createUsers', ['on'], /^entry 1: "createUsers": write true or false/],
    ['audiences', ['bell'], /^entry 1: "audiences" is not a member; write issuer, audience, /],
  ]
  for (const [member, wrong, problem] of mistakes)
    for (const value of wrong)
      assert.match(problemOf(JSON.stringify([{ ...entry, [member]: value }])), problem, member)
  const twice = { ...entry, jwks: 'https://id.example/keys', origins: ['https://keys.example'] }
  assert.match(
    problemOf(JSON.stringify([twice])),
    /^entry 1: "origins" is for a key set that discovery names: leave it out beside "jwks"/,
  )
  assert.match(problemOf('["https://id.example"]'), /^entry 1: write an object/)
  for (const text of ['', '{}', '[]', 'https://id.example', '[{', 'null'])
    assert.match(problemOf(text), /^write a JSON array, such as \[\{"issuer":/, text)
})

test('all mistakes are reported at once, an issuer that is there twice included', () => {
  const problem = problemOf(
    JSON.stringify([{ ...entry, ids: 1 }, entry, { ...entry, algorithms: [] }]),
  )
  assert.match(
    problem,
    /entry 1: "ids".*; entry 3: "algorithms".*; "https:\/\/id.example" is there more than once: write one/,
  )
})

test('the service itself is not a foreign issuer', () => {
  const refusal =
    /CARILLON_ISSUERS has "\S+", which is the URL of this service: it accepts its own tokens anyway/
  const env = {
    CARILLON_PUBLIC_URL: 'https://id.example',
    CARILLON_ISSUERS: JSON.stringify([entry]),
  }
  assert.throws(() => readConfig(env), refusal)
  const local = {
    ...entry,
    issuer: 'http://127.0.0.1:7464',
    jwks: 'http://127.0.0.1:7464/.well-known/jwks.json',
  }
  assert.throws(() => readConfig({ CARILLON_ISSUERS: JSON.stringify([local]) }), refusal)
})

test('the examples of the documentation are valid settings', () => {
  const page = readFileSync(new URL('../../docs/inbox/issuers.md', import.meta.url), 'utf8')
  const examples = [...page.matchAll(/^CARILLON_ISSUERS='([^']+)'$/gm)].map(([, text = '']) =>
    readIssuers(text),
  )
  assert.deepEqual(
    examples.map(([one]) => [one?.algorithms, one?.ownIds, one?.createUsers]),
    [
      [['RS256'], false, true],
      [['EdDSA'], false, true],
      [['RS256'], false, true],
    ],
  )
})
