// Generated code needs a name for every object, a union that a field decides, and true examples
// (I9). tools/generators/ runs such code.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newId } from '../../server/basics/ids.ts'
import { hashOf } from '../../server/basics/secrets.ts'
import { addChallenge } from '../../server/factors/factors.store.ts'
import { addLink } from '../../server/links/links.store.ts'
import { setRole } from '../../server/users/access/roles.store.ts'
import { putUsers } from '../../server/users/put-users.store.ts'
import { addUser, findUserByExternalId, updateUser } from '../../server/users/users.store.ts'
import { DescribedApi, type Schema } from '../support/http/described-api.ts'
import { startWithProvider } from '../support/http/provider-browser.ts'
import { addConfirmedApp } from '../support/sign-in/confirmed-app.ts'

// Passkeys need a host name.
const { app, stop } = await startWithProvider(
  {},
  { env: { CARILLON_PUBLIC_URL: 'https://bell.example', CARILLON_SMTP_URL: 'smtp://127.0.0.1:9' } },
)
after(stop)
const ann = await app.user('ann')
const api = new DescribedApi((await app.get('/openapi.json')).json())
const { components } = api.document
const schemas = Object.entries(components.schemas)

/** Under the name of its operation. */
const bodies = api.operations.flatMap(({ operation: { operationId, requestBody, responses } }) => {
  const successes = Object.entries(responses).flatMap(([status, response]) =>
    status < '3' ? [response.content] : [],
  )
  return [requestBody?.content, ...successes].flatMap((content) => {
    const body = content?.['application/json']
    return body === undefined ? [] : [{ operationId, ...body }]
  })
})

test('the body of every request and response is a named component, but the description itself (I9)', () => {
  const contents = api.operations.flatMap(
    ({ operation: { operationId, requestBody, responses } }) =>
      [requestBody?.content, ...Object.values(responses).map(({ content }) => content)].flatMap(
        (content) =>
          content?.['application/json'] === undefined
            ? []
            : [{ operationId, ...content['application/json'] }],
      ),
  )
  const unnamed = contents.filter(({ schema }) =>
    [schema.anyOf ?? schema].flat().some((one) => !isReference(one)),
  )
  assert.deepEqual(new Set(unnamed.map(({ operationId }) => operationId)), new Set(['getOpenApi']))
})

test('no component contains an object without a name, so that generated code has a type for each (I9)', () => {
  const anonymous = schemas.flatMap(([name, schema]) =>
    partsOf(schema).flatMap((one) => (isObject(one) ? [name] : [])),
  )
  assert.deepEqual(
    anonymous,
    [],
    'give the object inside a name of its own: component(...) in the schemas of its room',
  )
})

test('no component has a name that a generator also gives to the types of an operation (I9)', () => {
  const suffixes = ['Data', 'Response', 'Responses', 'Error', 'Errors']
  const generated = api.operations.flatMap(({ operation: { operationId } }) =>
    suffixes.map((suffix) => `${operationId}${suffix}`.toLowerCase()),
  )
  const names = schemas.map(([name]) => name.toLowerCase())
  assert.deepEqual(
    names.filter((name) => generated.includes(name)),
    [],
  )
  assert.equal(new Set(names).size, names.length)
})

test('no enum has two members that differ only in case, and only the restricted route has the code of the spec (I9)', () => {
  const parameters = api.operations.flatMap(({ operation }) =>
    (operation.parameters ?? []).map(({ schema }) => schema),
  )
  for (const schema of [...schemas.map(([, one]) => one), ...parameters].flatMap((one) => [
    one,
    ...partsOf(one),
  ])) {
    const words = (schema.enum ?? []) as string[]
    assert.equal(
      new Set(words.map((word) => String(word).toLowerCase())).size,
      words.length,
      words.join(),
    )
  }
  const withSpecCode = api.operations.filter(({ operation: { responses } }) =>
    Object.entries(responses).some(
      ([status, one]) => Number(status) >= 400 && api.codesOf(one).includes('Unauthorized'),
    ),
  )
  assert.deepEqual(
    withSpecCode.map(({ template }) => template),
    ['/routeRestreinte'],
  )
})

test('the response of a sign-in names its variant, and only that of a stateless one fits the schema with the token (I9)', async () => {
  const { oneOf, discriminator } = components.schemas.Login as {
    oneOf: Schema[]
    discriminator: { propertyName: string; mapping: Record<string, string> }
  }
  assert.equal(discriminator.propertyName, 'variant')
  // A generator without discriminators takes the first schema that fits.
  assert.deepEqual(oneOf, [
    { $ref: discriminator.mapping.stateless },
    { $ref: discriminator.mapping.stateful },
  ])
  for (const variant of ['stateful', 'stateless'] as const) {
    const { username, password } = ann
    const login = (await app.post('/login', { username, password, variant })).json()
    assert.equal(login.variant, variant)
    for (const [name, $ref] of Object.entries(discriminator.mapping))
      assert.equal(api.compile({ $ref })(login).length === 0, name === variant)
    const { token, ...rest } = login
    if (token !== undefined)
      for (const $ref of Object.values(discriminator.mapping))
        assert.notDeepEqual(api.compile({ $ref })(rest), [])
  }
})

test('every JSON body of a request or a success has an example that its schema accepts (I9)', () => {
  for (const { operationId, schema, example } of bodies) {
    if (operationId === 'getOpenApi') continue
    assert.ok(
      example !== undefined,
      `${operationId} has no example: example(...) in the schemas of its room`,
    )
    assert.deepEqual(api.compile(schema)(example), [], operationId)
  }
  const [{ operation }] = api.operations as [(typeof api.operations)[number]]
  const general = operation.responses.default?.content?.['application/json']
  assert.deepEqual(api.compile(general?.schema ?? {})(general?.example), [])
})

/** These have to be there before the example of an operation is sent. */
const prepare: Record<string, (example: unknown) => Promise<unknown>> = {
  readPasswordLink: addLinkOf,
  resetPassword: addLinkOf,
  async exchangeSignInCode(example) {
    const { code, verifier } = example as { code: string; verifier: string }
    const user = {
      id: code.split('.')[0] ?? '',
      username: null,
      displayName: null,
      createdAt: app.now(),
    }
    await app.store.write(addUser, { ...user, passwordHash: null })
    const data = JSON.stringify({ provider: 'staff', generation: 0, challenge: hashOf(verifier) })
    const challenge = { userId: user.id, purpose: 'provider', data, expiresAt: app.now() + 60_000 }
    await app.store.write(addChallenge, { ...challenge, hash: hashOf(code) })
  },
  updateByKey: () => app.deliver({ to: ann, title: 'Hi', key: '{key}' }),
  async createExternalUserLink() {
    const user = await app.store.read(findUserByExternalId, {
      issuer: '',
      externalId: '{externalId}',
    })
    await app.store.write(updateUser, { userId: user?.id ?? '', username: 'kim' })
  },
}

/**
 * A secret that is used once, or an origin of a browser: the example is understood, and refused.
 */
const needsFreshSecret: Record<string, RegExp> = {
  signInWithPasskey: /^422$/,
  addPasskey: /^422$/,
  beginSignInWith: /^403$/,
  completeSignIn: /^401$/,
  confirmTotp: /^404$/,
  postUnsubscribe: /^404$/,
}

test('a service accepts the example of every request (I9)', async () => {
  const { key } = await app.producerKey(['send', 'users', 'webhooks'])
  const ofOperator = await app.producerKey()
  const ofKey = { authorization: `Bearer ${key}` }
  const webhook = await app.post(
    '/api/webhooks',
    { url: 'https://shop.example/events', events: ['notification.read'] },
    ofKey,
  )
  // Some paths have the name of the parameter as the external id.
  const one = { newId: newId(app.now()), externalId: '{externalId}' }
  await app.store.write(putUsers, { issuer: '', at: app.now(), users: [one] })
  for (const { method, template, operation } of api.operations) {
    const example = operation.requestBody?.content['application/json']?.example
    if (example === undefined) continue
    const isOfProducer = operation.security.some((scheme) => 'producer' in scheme)
    const isOfUser = operation.security.some((scheme) => 'session' in scheme)
    // Each with a user of its own: the example of PUT /api/me/password changes what the next one needs.
    const user = await app.user()
    await app.deliver({ to: user, title: 'Hi' })
    const proof = isOfUser && !isOfProducer ? await app.signIn(user, 'stateful') : {}
    if (template.startsWith('/api/operator/')) await makeOperator(user.id)
    const own = isOfProducer ? ofKey : proof
    const headers = { 'content-type': 'application/json', ...own }
    await prepare[operation.operationId]?.(example)
    const id = template.startsWith('/api/notifications/{id}')
      ? ((await app.list(proof)).items[0]?.id ?? '')
      : ann.id
    const response = await app.request(
      template
        .replace('/webhooks/{id}', `/webhooks/${webhook.json().data.id}`)
        .replace('{id}', id)
        .replace('{keyId}', ofOperator.id)
        .replace('{provider}', 'staff'),
      {
        method,
        headers,
        body: JSON.stringify(example),
      },
    )
    const expected = needsFreshSecret[operation.operationId] ?? /^20[0124]$/
    assert.match(String(response.status), expected, `${method} ${template}: ${response.text}`)
  }
})

function isReference(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && '$ref' in schema
}

function isObject({ properties }: Schema): boolean {
  return properties !== undefined
}

function partsOf(schema: Schema): Schema[] {
  const {
    properties = {},
    items,
    anyOf = [],
    oneOf = [],
    additionalProperties,
  } = schema as Record<string, object>
  const inside = [
    ...Object.values(properties ?? {}),
    items,
    ...Object.values(anyOf),
    ...Object.values(oneOf),
    additionalProperties,
  ]
  return inside.flatMap((one) =>
    typeof one === 'object' ? [one as Schema, ...partsOf(one as Schema)] : [],
  )
}

async function addLinkOf(example: unknown): Promise<void> {
  const tokenHash = hashOf((example as { token: string }).token)
  const times = { at: app.now(), expiresAt: app.now() + 60_000 }
  const { id: userId } = await app.user()
  await app.store.write(addLink, { userId, purpose: 'reset', tokenHash, email: null, ...times })
}

/** With a second factor as old as the sign-in, which a public URL demands. */
async function makeOperator(userId: string): Promise<void> {
  await addConfirmedApp(app, userId)
  await app.store.write(setRole, { userId, role: 'operator' })
}
