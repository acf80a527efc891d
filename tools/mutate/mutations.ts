// The security checks of server/sign-in and server/http/request, each as a text and what disables it, with the tests that must fail.

export type Mutation = { name: string; file: string; from: string; to: string; tests: readonly string[] }

const tokenTests = [
  'tests/api/tokens/forged-tokens.test.ts',
  'tests/api/tokens/token.test.ts',
  'tests/api/tokens/scopes.test.ts',
]
const readToken = 'server/sign-in/token/read-token.ts'
const guards = 'server/http/request/guards.ts'

export const mutations: readonly Mutation[] = [
  {
    name: 'token: the algorithm is not checked',
    file: readToken,
    from: "alg !== 'EdDSA' || ",
    to: '',
    tests: tokenTests,
  },
  { name: 'token: the type is not checked', file: readToken, from: "typ !== 'at+jwt' || ", to: '', tests: tokenTests },
  {
    name: 'token: further header fields are accepted',
    file: readToken,
    from: 'header === null || Object.keys(header).sort().join() !== headerNames',
    to: 'header === null',
    tests: tokenTests,
  },
  {
    name: 'token: the issuer is not checked',
    file: readToken,
    from: 'claims.iss !== issuer || ',
    to: '',
    tests: tokenTests,
  },
  {
    name: 'token: the audience is not checked',
    file: readToken,
    from: 'claims.aud !== issuer || ',
    to: '',
    tests: tokenTests,
  },
  {
    name: 'token: the signature is not checked',
    file: 'server/sign-in/token/signature-checks.ts',
    from: "return verify(null, Buffer.from(signed), key, Buffer.from(signature, 'base64url'))",
    to: "return verify(null, Buffer.from(signed), key, Buffer.from(signature, 'base64url')) || true",
    tests: tokenTests,
  },
  {
    name: 'token: another spelling of the same JSON is accepted',
    file: readToken,
    from: "const isOurs = isObject && Buffer.from(JSON.stringify(parsed)).toString('base64url') === segment",
    to: 'const isOurs = isObject',
    tests: tokenTests,
  },
  {
    name: 'token: an expired one is accepted from the cache',
    file: 'server/sign-in/token/access-token.ts',
    from: 'if (now() >= subject.expiresAt || revocations.isRevoked(subject)) return null',
    to: 'if (revocations.isRevoked(subject)) return null',
    tests: tokenTests,
  },
  {
    name: 'token: a dropped key is accepted from the cache',
    file: 'server/sign-in/token/access-token.ts',
    from: 'subject.kid !== undefined && keys.isDropped(subject.kid) ? null : subject.expiresAt',
    to: 'subject.expiresAt',
    tests: ['tests/api/tokens/key-rotation.test.ts'],
  },
  {
    name: 'signing keys: a retired key is accepted',
    file: 'server/sign-in/token/signing-keys.ts',
    from: 'if (key === undefined || (key.until !== null && this.#dependencies.now() >= key.until)) return undefined',
    to: 'if (key === undefined) return undefined',
    tests: ['tests/api/tokens/key-rotation.test.ts'],
  },
  {
    name: 'signing keys: forged tokens cause a read each',
    file: 'server/sign-in/token/signing-keys.ts',
    from: 'performance.now() < this.#learnedAt + learnEveryMs',
    to: 'false',
    tests: ['tests/api/tokens/key-rotation.test.ts'],
  },
  {
    name: 'sealing: a text of another purpose is opened',
    file: 'server/sign-in/sealing.ts',
    from: "hkdfSync('sha256', secret, '', purposes[purpose], 32)",
    to: "hkdfSync('sha256', secret, '', '', 32)",
    tests: ['server/sign-in/sealing.test.ts'],
  },
  {
    name: 'producer key: the previous secret is accepted for ever',
    file: 'server/sign-in/producer-key.ts',
    from: 'previousUntil === null || at >= previousUntil',
    to: 'previousUntil === null',
    tests: ['tests/api/inbox/producer-keys.test.ts'],
  },
  {
    name: 'producer key: the secret is not compared',
    file: 'server/sign-in/producer-key.ts',
    from: 'if (equalSecrets(producer.secretHash, secretHash)) return true',
    to: 'return true',
    tests: ['tests/api/inbox/producer-keys.test.ts'],
  },
  {
    name: 'guard: a producer key without the scope is accepted',
    file: guards,
    from: 'if (!found.scopes.includes(scope))',
    to: 'if (false)',
    tests: ['tests/api/inbox/producer-keys.test.ts'],
  },
  {
    name: 'guard: a token with a scope opens every route',
    file: guards,
    from: 'if (scope === undefined) return',
    to: 'if (scope !== null) return',
    tests: tokenTests,
  },
  {
    name: 'guard: of two Authorization fields the first counts',
    file: guards,
    from: 'if (only === undefined || another !== undefined) return null',
    to: 'if (only === undefined) return null',
    tests: [...tokenTests, 'tests/api/inbox/producer-keys.test.ts'],
  },
  {
    name: 'secrets: compared without constant time',
    file: 'server/sign-in/secrets.ts',
    from: "return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))",
    to: 'return a === b',
    tests: ['server/sign-in/secrets.test.ts', 'tools/checks/constant-time.test.ts'],
  },
]
