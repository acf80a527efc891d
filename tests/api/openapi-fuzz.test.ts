// Random requests made from the description, most of them invalid (I9). SOAK=1 sends 20,000, and
// none takes 20 ms of the event loop (R10).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../support/any-character.ts'
import {
  type Described,
  DescribedApi,
  type Parameter,
  type Schema,
} from '../support/http/described-api.ts'
import { hasSecurityHeaders, refusalIn } from '../support/http/envelope.ts'
import { HttpClient, type HttpRequest } from '../support/http/http-client.ts'
import { bestTimeOf, timeOf } from '../support/processor-time.ts'
import { type Proof, startTestService } from '../support/service.ts'
import { isSoak } from '../support/soak.ts'

const requests = isSoak ? 20_000 : 200

const app = await startTestService()
const client = new HttpClient(app.url)
after(async () => {
  client.close()
  await app.stop()
})
const api = new DescribedApi((await app.get('/openapi.json')).json())
const ann = await app.user('ann')
const eve = await app.user('eve')
const ids = [
  ...(await app.deliver({ to: [ann, eve], title: 'Hi' })),
  ...(await app.deliver({ to: ann, title: 'Ho' })),
]
const cookie = await app.signIn(ann, 'stateful')
const token = await app.signIn(ann, 'stateless')
const producer = { authorization: `Bearer ${(await app.producerKey(['send', 'users'])).key}` }

/** /logout ends proofs, so they are renewed before each request. */
const proofs: Record<string, () => Promise<Proof>> = {
  none: async () => ({}),
  cookie: async () => cookie,
  token: async () => token,
  producer: async () => producer,
  broken: async () => ({ authorization: 'Bearer a.b.c', cookie: 'carillon=;carillon=x' }),
}

const junkText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc.constantFrom(
    '',
    '\0',
    '\ud800',
    '\u202e',
    '__proto__',
    "' or 1=1 --",
    '../..',
    'javascript:alert(1)',
    'x'.repeat(5_000),
  ),
)
const junk = fc.oneof(
  junkText,
  fc.double(),
  fc.maxSafeInteger(),
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue(),
)

/** Sometimes one place has another value. */
function valueAs(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 25, arbitrary: soundValueAs(schema) }, { weight: 1, arbitrary: junk })
}

function soundValueAs(given: Schema): fc.Arbitrary<unknown> {
  const schema = api.resolve(given)
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((kind) => soundValueAs({ ...schema, type: kind })))
  if (schema.type === 'null') return fc.constant(null)
  const { type, enum: words, anyOf, const: only } = schema
  if (words !== undefined) return fc.constantFrom(...(words as unknown[]))
  if (only !== undefined) return fc.constant(only)
  if (Array.isArray(type))
    return fc.oneof(...type.map((one) => soundValueAs({ ...schema, type: one })))
  if (type === 'null') return fc.constant(null)
  if (anyOf !== undefined) return fc.oneof(...(anyOf as Schema[]).map(valueAs))
  if (type === 'string') return textOf(schema)
  if (type === 'integer') {
    const { minimum = -5, maximum = 1_000 } = schema as { minimum?: number; maximum?: number }
    return fc.integer({ min: minimum - 1, max: maximum + 1 })
  }
  if (type === 'boolean') return fc.boolean()
  if (type === 'array')
    return fc.array(valueAs(schema.items as Schema), {
      minLength: Number(schema.minItems ?? 0),
      maxLength: 4,
    })
  if (Object.hasOwn(schema.properties ?? {}, 'issuer')) return recipientOf(schema)
  return type === 'object' ? objectOf(schema) : junk
}

/** The description says in words that exactly one of these fields is there. */
function recipientOf(schema: Schema): fc.Arbitrary<unknown> {
  const { username, userId, externalId } = schema.properties as Record<string, Schema>
  const fields = Object.entries({ username, userId, externalId })
  return fc.oneof(
    ...fields.map(([name, value]) => objectOf({ ...schema, properties: { [name]: value } })),
  )
}

function textOf({ format, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  if (format === 'uuid') return fc.oneof(fc.constantFrom(...ids), fc.uuid())
  const names = fc.constantFrom('ann', 'eve', ann.password, ann.id, eve.id, '/orders/7')
  const longest = Math.min(Number(maxLength), 300)
  return fc.oneof(
    { weight: 2, arbitrary: names },
    fc.string({ unit: 'grapheme', minLength: Number(minLength), maxLength: longest }),
  )
}

function objectOf({
  properties,
  required = [],
  additionalProperties,
  minProperties,
  maxProperties,
}: Schema): fc.Arbitrary<unknown> {
  if (properties === undefined)
    return fc.dictionary(fc.string(), valueAs(additionalProperties as Schema), { maxKeys: 3 })
  const fields = Object.fromEntries(
    Object.entries(properties as Record<string, Schema>).map(([name, schema]) => [
      name,
      valueAs(schema),
    ]),
  )
  const names = Object.keys(fields).filter((name) => !(required as string[]).includes(name))
  const atMost = Math.min(Number(maxProperties ?? names.length), names.length)
  const sound = fc
    .subarray(names, { minLength: Number(minProperties ?? 0), maxLength: atMost })
    .chain((some) =>
      fc.record(
        Object.fromEntries(
          [...(required as string[]), ...some].map((name) => [name, fields[name] ?? junk]),
        ),
      ),
    )
  const broken = fc.tuple(
    fc.record(fields, { requiredKeys: [] as string[] }),
    fc.dictionary(fc.string(), junk, { maxKeys: 2 }),
  )
  return fc.oneof(
    { weight: 6, arbitrary: sound },
    { weight: 1, arbitrary: broken.map(([some, others]) => ({ ...some, ...others })) },
  )
}

/** Percent-encoded, or as unencoded as HTTP allows. */
const written = fc.oneof(
  { weight: 9, arbitrary: fc.constant(true) },
  { weight: 1, arbitrary: fc.constant(false) },
)
const inUrl = (value: unknown, isEncoded: boolean) => {
  const text = String(value).toWellFormed()
  return isEncoded ? encodeURIComponent(text) : text.replaceAll(/[^!-~]/g, '~')
}

const targetOf = ({
  template,
  operation: { parameters = [] },
}: Described): fc.Arbitrary<string> => {
  const inPlace = (place: string) => parameters.filter((parameter) => parameter.in === place)
  const part = ({ name, schema }: Parameter) =>
    // A held poll would only take time.
    fc.tuple(
      fc.constant(name),
      name === 'wait' ? fc.constantFrom(0, -1, 26, 1.5, 'x') : valueAs(schema),
      written,
    )
  const junkPart = fc.tuple(junkText, junk, written)
  const path = fc
    .tuple(...inPlace('path').map(part))
    .map((parts) =>
      parts.reduce(
        (all, [name, value, isEncoded]) => all.replace(`{${name}}`, () => inUrl(value, isEncoded)),
        template,
      ),
    )
  const pairs = [...inPlace('query').map(part), junkPart].map((one, index, all) =>
    fc.option(one, { freq: index === all.length - 1 ? 1 : 2, nil: undefined }),
  )
  const query = fc.tuple(...pairs).map((some) =>
    some
      .filter((pair) => pair !== undefined)
      .map(([name, value, isEncoded]) => `${inUrl(name, isEncoded)}=${inUrl(value, isEncoded)}`)
      .join('&'),
  )
  const joined = fc
    .tuple(path, query)
    .map(([bare, pairsText]) => (pairsText === '' ? bare : `${bare}?${pairsText}`))
  return fc.oneof(
    { weight: 15, arbitrary: joined },
    { weight: 1, arbitrary: junkText.map((text) => `/${inUrl(text, true)}`) },
  )
}

const bodyOf = ({ operation: { requestBody } }: Described): fc.Arbitrary<string | undefined> => {
  const schema = Object.values(requestBody?.content ?? {})[0]?.schema
  const json = schema === undefined ? junk : valueAs(schema)
  return fc.oneof(
    {
      weight: requestBody === undefined ? 1 : 15,
      arbitrary: json.map((value) => JSON.stringify(value)),
    },
    { weight: requestBody === undefined ? 5 : 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.string({ unit: anyCharacter }) },
  )
}

const types = [
  'application/json',
  'application/json; charset=utf-8',
  'application/x-www-form-urlencoded',
  'text/plain',
  '',
]
const shortText = fc.string({ maxLength: 60 }).map((text) => text.replaceAll(/[^ -~]/g, '').trim())
/** A parser could split it at many places. */
const filledText = fc
  .constantFrom(' ', ',', ';', '"', '; ', '\xcc\x81', ':', '=')
  .map((text) => `x${text.repeat(7_000)}y`)
const headerText = fc.oneof(
  { weight: 9, arbitrary: shortText },
  { weight: 1, arbitrary: filledText },
)
const headersOf = (
  { operation: { parameters = [] } }: Described,
  hasBody: boolean,
): fc.Arbitrary<Proof> => {
  const type = fc.oneof(
    { weight: 4, arbitrary: fc.constant('application/json') },
    { weight: 1, arbitrary: fc.constantFrom(...types) },
  )
  const described = parameters
    .filter((parameter) => parameter.in === 'header')
    .map(({ name }) => name.toLowerCase())
  const others = [
    'origin',
    'sec-fetch-site',
    'accept',
    'range',
    'if-match',
    'accept-encoding',
    'accept-language',
    'user-agent',
    'x-forwarded-for',
    'x-http-method-override',
  ]
  const some = (names: string[]) =>
    fc.record(Object.fromEntries(names.map((name) => [name, headerText])), {
      requiredKeys: [],
    }) as fc.Arbitrary<Proof>
  const none = fc.constant<Proof>({})
  const unasked = fc.oneof({ weight: 6, arbitrary: none }, { weight: 1, arbitrary: some(others) })
  const named = hasBody ? type.map((text): Proof => ({ 'content-type': text })) : none
  return fc.tuple(named, some(described), unasked).map((fields) => Object.assign({}, ...fields))
}

const request: fc.Arbitrary<{ request: HttpRequest; proof: string }> = fc
  .constantFrom(...api.operations)
  .chain((described) =>
    bodyOf(described).chain((body) =>
      fc.record({
        request: fc.record({
          method: fc.oneof(
            { weight: 15, arbitrary: fc.constant(described.method) },
            {
              weight: 1,
              arbitrary: fc.constantFrom(
                'GET',
                'HEAD',
                'POST',
                'PUT',
                'PATCH',
                'DELETE',
                'OPTIONS',
                'QUERY',
                'TRACE',
              ),
            },
          ),
          path: targetOf(described),
          headers: headersOf(described, body !== undefined),
          ...(body !== undefined && { body: fc.constant(body), chunked: fc.boolean() }),
        }),
        proof: fc.oneof(
          { weight: 5, arbitrary: fc.constant(usualProof(described)) },
          { weight: 1, arbitrary: fc.constantFrom(...Object.keys(proofs)) },
        ),
      }),
    ),
  )

function usualProof({ operation: { security } }: Described): string {
  const schemes = security.flatMap((one) => Object.keys(one))
  if (schemes.includes('producer')) return 'producer'
  if (schemes.includes('session')) return 'cookie'
  return schemes.length > 0 ? 'token' : 'none'
}

function endsProofs({ method, path = '' }: HttpRequest): boolean {
  return path.startsWith('/logout') || (method === 'DELETE' && /^\/api\/me(\?|$)/.test(path))
}

/** R10. The time of the client counts, too. */
async function isQuick(send: () => Promise<unknown>): Promise<void> {
  if (!isSoak || (await timeOf(send)) < 20) return
  const ms = await bestTimeOf(send)
  assert.ok(ms < 20, `it took ${ms.toFixed(1)} ms of the event loop`)
}

test(`${requests} random requests made from the description: every response is as described, and none is a 5xx (I9, E1, E2)`, async (t) => {
  const statuses = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(request, async ({ request: made, proof }) => {
      const carried = endsProofs(made) ? {} : await proofs[proof]?.()
      const send = () => client.request({ ...made, headers: { ...made.headers, ...carried } })
      const response = await send()
      await isQuick(send)
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      assert.ok(response.status < 500, response.text)
      hasSecurityHeaders(response)
      if (made.method === 'HEAD') return assert.equal(response.text, '')
      if (response.status >= 400) refusalIn(response)
      const described = api.find(made.method ?? '', made.path ?? '')
      if (described === undefined) assert.ok(response.status >= 400)
      else api.promises(described, response)
    }),
    { numRuns: requests },
  )
  const spread = [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`)
  t.diagnostic(spread.join(', '))
  // If the request checks refused all of them, the routes themselves would not be tested.
  for (const status of [200, 400, 401, 404])
    assert.ok(statuses.has(status), `no response had the status ${status}`)
})
