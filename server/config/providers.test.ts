import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { CarillonError } from '../basics/errors.ts'
import { readProviders } from './providers.ts'
import { readConfig } from './read.ts'

const hidden = 'hunter2-of-the-client'
const entry = { name: 'staff', issuer: 'https://id.example', clientId: 'bell' }
const read = (...entries: unknown[]) => readProviders(JSON.stringify(entries))

function problemOf(text: string): string {
  try {
    readProviders(text)
  } catch (error) {
    assert.ok(error instanceof CarillonError)
    return error.message
  }
  assert.fail(`${text} was accepted`)
}

function withFile(content: string, act: (path: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-providers-'))
  try {
    writeFileSync(join(folder, 'secret'), content)
    act(join(folder, 'secret'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('an entry needs a name, an issuer and a client; everything else has a default', () => {
  assert.deepEqual(readProviders('none'), [])
  assert.deepEqual(read(entry), [
    {
      ...entry,
      displayName: 'staff',
      clientSecret: undefined,
      scopes: ['openid', 'profile', 'email'],
      algorithm: 'RS256',
      origins: ['https://id.example'],
      createUsers: false,
      factors: { acr: [], amr: [] },
    },
  ])
  const [full] = read({
    ...entry,
    displayName: 'Example Staff',
    issuer: 'https://id.example/realms/main',
    scopes: ['openid'],
    algorithm: 'EdDSA',
    origins: ['https://tokens.example', 'http://localhost:8080'],
    createUsers: true,
    factors: { amr: ['mfa'] },
  })
  assert.deepEqual(full?.factors, { acr: [], amr: ['mfa'] })
  assert.deepEqual(full?.origins, [
    'https://id.example',
    'https://tokens.example',
    'http://localhost:8080',
  ])
  assert.deepEqual([full?.scopes, full?.algorithm, full?.createUsers], [['openid'], 'EdDSA', true])
})

test('a client secret may be in a file, without its last line break', () => {
  withFile(`${hidden}\n`, (path) =>
    assert.equal(read({ ...entry, clientSecretFile: path })[0]?.clientSecret, hidden),
  )
  assert.equal(read({ ...entry, clientSecret: hidden })[0]?.clientSecret, hidden)
})

test('the error for each mistake names the entry, the member and what to write', () => {
  const mistakes: [member: string, wrong: unknown[], problem: RegExp][] = [
    [
      'factors',
      [
        ...[null, 'mfa', ['mfa'], { acr: 'phr' }],
        ...[{ amr: [1] }, { acr: ['a b'] }, { acr: [''] }, { other: [] }],
      ],
      /"factors": write the values that prove a second factor there/,
    ],
    [
      'name',
      [undefined, 'Staff', 'a/b', 'a'.repeat(33)],
      /^entry 1: "name" is required: write 1 to 32 small letters/,
    ],
    [
      'issuer',
      [
        undefined,
        'https://id.example?a',
        'https://id.example#a',
        'https://u:p@id.example',
        'file:///etc',
      ],
      /^entry 1: "issuer" is required: write the URL that the discovery document has/,
    ],
    [
      'issuer',
      ['http://id.example'],
      /^entry 1: "issuer" is "http:\/\/id.example": plain http beyond this/,
    ],
    ['clientId', [''], /^entry 1: "clientId" is required/],
    [
      'clientSecret',
      [null, 7, '', `${hidden}\n`],
      /^entry 1: "clientSecret" is not displayed here: write the secret/,
    ],
    [
      'clientSecretFile',
      ['/no/such/file'],
      /^entry 1: "clientSecretFile" is "\/no\/such\/file".* ENOENT/,
    ],
    ['clientSecretFile', [''], /^entry 1: "clientSecretFile": write the path of a file/],
    ['displayName', [''], /^entry 1: "displayName": write the text of the button/],
    [
      'scopes',
      [['profile'], 'openid', ['openid', 'a b']],
      /^entry 1: "scopes": write a list of scopes with "openid"/,
    ],
    [
      'algorithm',
      ['none', 'HS256'],
      /^entry 1: "algorithm": write one of RS256, PS256, ES256, EdDSA/,
    ],
    [
      'origins',
      ['https://a.example', ['https://a.example/'], ['http://a.example']],
      /^entry 1: "origins": write a list of https origins/,
    ],
    ['createUsers', ['on'], /^entry 1: "createUsers": write true or false/],
    [
      'clientsecret',
      [hidden],
      /^entry 1: "clientsecret" is not a member; write name, issuer, clientId/,
    ],
  ]
  const isProblem = (wrong: unknown, problem: RegExp) => {
    const found = problemOf(JSON.stringify([wrong]))
    assert.match(found, problem, JSON.stringify(wrong))
    assert.ok(!found.includes(hidden), found)
  }
  for (const [member, wrong, problem] of mistakes)
    for (const value of wrong) isProblem({ ...entry, [member]: value }, problem)
  isProblem(
    { ...entry, clientSecret: hidden, clientSecretFile: '/x' },
    /"clientSecret" and "clientSecretFile" are both/,
  )
  isProblem('https://id.example', /^entry 1: write an object/)
  for (const text of ['', '{}', '[]', `[{"clientSecret":"${hidden}"`, 'null', `"${hidden}"`])
    assert.match(problemOf(text), /^write a JSON array, such as \[\{"name":"staff"/, text)
})

test('all mistakes are reported at once, a name or an issuer that is there twice included', () => {
  const problem = problemOf(
    JSON.stringify([{ ...entry, clientId: 1 }, entry, { ...entry, algorithm: 'x' }]),
  )
  assert.match(
    problem,
    /entry 1: "clientId".*; entry 3: "algorithm".*; the name "staff" is there more than once/,
  )
  assert.match(
    problem,
    /; the issuer "https:\/\/id.example" is there more than once: write one entry$/,
  )
})

test('no error of the settings displays a client secret, in the setting, in its file or in the file of the setting (P5)', () => {
  const wrong = JSON.stringify([
    { ...entry, clientSecret: hidden, algorithm: 'none', createUsers: 7 },
  ])
  const refusalOf = (env: Record<string, string>) => {
    try {
      readConfig(env)
    } catch (error) {
      return inspect(error, { depth: 9 })
    }
    assert.fail('was accepted')
  }
  const texts = [wrong, wrong.slice(1), hidden]
  for (const text of texts)
    assert.ok(!refusalOf({ CARILLON_PROVIDERS: text }).includes(hidden), text)
  withFile(wrong, (path) =>
    assert.ok(!refusalOf({ CARILLON_PROVIDERS_FILE: path }).includes(hidden)),
  )
  withFile(`${hidden}\nsecond line`, (path) => {
    const text = JSON.stringify([{ ...entry, clientSecretFile: path }])
    assert.ok(!refusalOf({ CARILLON_PROVIDERS: text }).includes(hidden))
  })
})

test('the examples of the documentation are valid settings', () => {
  const page = readFileSync(new URL('../../docs/sign-in/providers.md', import.meta.url), 'utf8')
  const texts = [...page.matchAll(/^CARILLON_PROVIDERS='([^']+)'$/gm)].map(([, text = '']) => text)
  withFile(hidden, (path) => {
    const examples = texts.map(
      (text) => readProviders(text.replace(/\/run\/secrets\/\w+/, path))[0],
    )
    assert.deepEqual(
      examples.map((one) => [one?.name, one?.createUsers, one?.origins.length]),
      [
        ['staff', true, 1],
        ['google', false, 4],
        ['staff', false, 1],
      ],
    )
  })
})
