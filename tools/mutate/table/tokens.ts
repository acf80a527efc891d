// Access tokens of both kinds, signing keys, sealing, producer keys and the guards that read a proof.
import { checksIn } from '../mutation.ts'

const forged = ['tests/api/tokens/forged-tokens.test.ts']
const generation = ['tests/api/tokens/token-generation.test.ts']
const foreign = ['tests/api/issuers/forged-foreign-tokens.test.ts']
const accessToken = 'server/sign-in/token/access-token.ts'
const producerKeys = ['tests/api/inbox/producer-keys.test.ts']

export const tokens = [
  ...checksIn('token', {
    file: 'server/sign-in/token/read-token.ts',
    tests: forged,
    rows: [
      ['the algorithm is not checked', "alg !== 'EdDSA' || ", ''],
      ['the type is not checked', "typ !== 'at+jwt' || ", ''],
      [
        'further header fields are accepted',
        'header === null || Object.keys(header).sort().join() !== headerNames',
        'header === null',
      ],
      ['the issuer is not checked', 'claims.iss !== issuer || ', ''],
      ['the audience is not checked', 'claims.aud !== issuer || ', ''],
      [
        'another spelling of the same JSON is accepted',
        "const isOurs = isObject && Buffer.from(JSON.stringify(parsed)).toString('base64url') === segment",
        'const isOurs = isObject',
      ],
      ['an id may be any text', ' && idShape.test(claim))', ')'],
      [
        'a time may be any number',
        '.every((claim) => Number.isSafeInteger(claim))',
        '.every((claim) => Number(claim) >= 0)',
      ],
      ['the claims of different kinds are mixed', 'if (!isKnownKind(claims)) return false', ''],
      ['a name may be empty', " || name === ''", ''],
      ['a nbf may be a text', "if (nbf !== undefined && typeof nbf !== 'number') return false", ''],
      [
        'a token lives as long as it says',
        'return (exp as number) - (iat as number) <= maxTokenLifeMs / 1000',
        'return true',
      ],
      ['auth_time is not checked', 'if (!isAuthTime(claims)) return false', ''],
      ['auth_time may be long after the token', '(time as number) <= (iat as number) + clockLeewaySeconds', 'true'],
      [
        'a token of scope inbox is confirmed',
        '!Number.isSafeInteger(time) || scope !== undefined',
        '!Number.isSafeInteger(time)',
      ],
      ['a token from the future is accepted', 'iat > seconds + clockLeewaySeconds || ', ''],
      ['nbf is not checked', '(nbf !== iat && nbf > seconds)', 'false'],
    ],
  }),
  ...checksIn('token', {
    file: 'server/sign-in/token/signature-checks.ts',
    tests: forged,
    rows: [
      [
        'the signature is not checked',
        "Buffer.from(signature, 'base64url'))\n",
        "Buffer.from(signature, 'base64url')) || true\n",
      ],
    ],
  }),
  ...checksIn('token', {
    file: 'server/sign-in/token/read-token.ts',
    tests: ['tests/api/tokens/refused-tokens.test.ts'],
    rows: [['a long one is parsed', 'if (token.length > maxTokenLength) return null', '']],
  }),
  ...checksIn('token', {
    file: 'server/sign-in/token/read-token.ts',
    tests: generation,
    rows: [['a generation may be anything', 'if (gen !== undefined && !isGeneration(gen)) return false', '']],
  }),
  ...checksIn('token', {
    file: accessToken,
    tests: ['tests/api/tokens/token.test.ts'],
    rows: [
      [
        'an expired one is accepted from the cache',
        'if (now() >= subject.expiresAt || revocations.isRevoked(subject)) return null',
        'if (revocations.isRevoked(subject)) return null',
      ],
      [
        'it outlives the time in which its sign-in is renewed',
        'return Math.min(this.#options.now() + this.#options.lifetimeMs, signedInAt + this.#options.chainMs)',
        'return signedInAt === 0 ? 0 : this.#options.now() + this.#options.lifetimeMs',
      ],
    ],
  }),
  ...checksIn('token', {
    file: accessToken,
    tests: generation,
    rows: [
      [
        'a revoked one is accepted',
        'if (now() >= subject.expiresAt || revocations.isRevoked(subject)) return null',
        'if (now() >= subject.expiresAt) return null',
      ],
      [
        'a row with another generation renews it',
        'return known === generation || (known < generation && this.#options.revocations.isExcepted(subject, generation))',
        'return known >= 0',
      ],
    ],
  }),
  ...checksIn('token', {
    file: accessToken,
    tests: ['server/sign-in/token/access-token.test.ts'],
    rows: [
      [
        'one is issued for a password that was changed during its check',
        'if (this.#options.revocations.isRevoked(signIn)) throw invalidCredentials()',
        '',
      ],
      [
        'a sign-in counts from its end, and not from when the password was read',
        'const { id: userId, username, credentialGeneration: generation } = user\n    const signIn',
        'const { id: userId, username } = user\n    const generation = 1_000\n    const signIn',
      ],
    ],
  }),
  ...checksIn('token', {
    file: accessToken,
    tests: ['tests/api/tokens/session-tokens.test.ts'],
    rows: [
      ['that of a session is renewed', 'if (subject.isOfSession)\n', 'if (false)\n'],
      [
        'that of a session outlives it',
        'const endsAt = Math.min(this.#options.now() + this.#options.lifetimeMs, signIn.endsAt)',
        'const endsAt = this.#options.now() + this.#options.lifetimeMs',
      ],
    ],
  }),
  ...checksIn('token', {
    file: accessToken,
    tests: ['tests/api/factors/factors.test.ts'],
    rows: [
      [
        'a confirmed one of a session outlives it',
        'const endsAt = subject.isOfSession ? subject.expiresAt : this.#endOf(subject)',
        'const endsAt = this.#endOf(subject)',
      ],
    ],
  }),
  ...checksIn('token', {
    file: 'server/http/routes/sign-in/sign-in.ts',
    tests: generation,
    rows: [
      [
        'that of a disabled user is renewed',
        'if (user === undefined || user.disabledAt !== null) throw notAuthenticated()',
        'if (user === undefined) throw notAuthenticated()',
      ],
    ],
  }),
  ...checksIn('revocations', {
    file: 'server/sign-in/token/revocations.ts',
    tests: generation,
    rows: [
      ['a sign-out revokes nothing', 'if (this.#revocations.has(keyOf(userId, signInId))) return true', ''],
      ['a generation revokes nothing', ': generation < everySignIn.firstGeneration', ': false'],
      ['a token without a generation is not revoked by its time', 'signedInAt <= everySignIn.notBefore', 'false'],
    ],
  }),
  ...checksIn('revocations', {
    file: 'server/sign-in/token/revocations.ts',
    tests: ['tests/api/tokens/excepted-sign-in.test.ts'],
    rows: [
      [
        'every sign-in is excepted',
        'if (everySignIn === undefined || everySignIn.exceptSignInId === signInId) return false',
        'if (everySignIn === undefined || everySignIn.exceptSignInId !== null) return false',
      ],
      [
        'the exception of the change before stays',
        'const isLatest = known === undefined || revocation.firstGeneration >= known.firstGeneration',
        'const isLatest = known === undefined || known.exceptSignInId === null',
      ],
    ],
  }),
  ...checksIn('revocations', {
    file: 'server/sign-in/token/revocations.ts',
    tests: ['tests/api/tokens/issued-tokens.test.ts'],
    rows: [
      [
        'issued tokens are not revoked',
        'if (issued !== undefined && issuedGeneration < issued.firstGeneration) return true',
        '',
      ],
    ],
  }),
  ...checksIn('revocations', {
    file: 'server/sign-in/token/revocations.ts',
    tests: ['tests/api/users/erasure.test.ts'],
    rows: [
      [
        'tokens of an erased user are accepted',
        'if (this.#erased.size > 0 && this.#erased.has(erasedKey(userId))) return true',
        '',
      ],
    ],
  }),
  ...checksIn('signing keys', {
    file: accessToken,
    tests: ['tests/api/tokens/key-rotation.test.ts'],
    rows: [
      [
        'a dropped one is accepted from the cache',
        'subject.kid !== undefined && keys.isDropped(subject.kid) ? null : subject.expiresAt',
        'subject.expiresAt',
      ],
    ],
  }),
  ...checksIn('signing keys', {
    file: 'server/sign-in/token/signing-keys.ts',
    tests: ['tests/api/tokens/key-rotation.test.ts'],
    rows: [
      [
        'a retired one is accepted',
        'if (key === undefined || (key.until !== null && this.#dependencies.now() >= key.until)) return undefined',
        'if (key === undefined) return undefined',
      ],
      ['forged tokens cause a read each', 'performance.now() < this.#learnedAt + learnEveryMs', 'false'],
    ],
  }),
  ...checksIn('sealing', {
    file: 'server/sign-in/sealing.ts',
    tests: ['server/sign-in/sealing.test.ts'],
    rows: [
      [
        'a text of another purpose is opened',
        "hkdfSync('sha256', secret, '', purposes[purpose], 32)",
        "hkdfSync('sha256', secret, '', '', 32)",
      ],
      ['every MAC is right', 'return matches.includes(true)', 'return matches.length > 0'],
    ],
  }),
  ...checksIn('secrets', {
    file: 'server/sign-in/secrets.ts',
    tests: ['server/sign-in/secrets.test.ts'],
    rows: [
      [
        'compared in a time that shows how much is right',
        "return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))",
        'return a === b',
      ],
      [
        'compared by their first characters',
        "timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))",
        "timingSafeEqual(hash('sha256', a.slice(0, 8), 'buffer'), hash('sha256', b.slice(0, 8), 'buffer'))",
      ],
      [
        'hashes are compared in a time that shows how much is right',
        'a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))',
        'a === b',
      ],
      ['hashes are compared by their length', ' && timingSafeEqual(Buffer.from(a), Buffer.from(b))', ''],
    ],
  }),
  ...checksIn('producer key', {
    file: 'server/sign-in/producer-key.ts',
    tests: producerKeys,
    rows: [
      [
        'the previous secret is accepted for ever',
        'previousUntil === null || at >= previousUntil',
        'previousUntil === null',
      ],
      ['the previous secret is not compared', 'return equalHashes(previousSecretHash, secretHash)', 'return true'],
      ['the secret is not compared', 'if (equalHashes(producer.secretHash, secretHash)) return true', 'return true'],
      ['a revoked one is accepted', ' || producer.revokedAt !== null', ''],
      ['an expired one is accepted', 'producer.expiresAt === null || presented.at < producer.expiresAt', 'true'],
      ['a remembered one is remembered for ever', 'if (at >= remembered.at + rememberedMs) return null', ''],
      [
        'the secret, the revocation and the expiry of a remembered one are not checked',
        'return isValid(remembered.producer, { ...presented, at }) ? remembered.producer : null',
        'return remembered.producer',
      ],
    ],
  }),
  ...checksIn('guard', {
    file: 'server/http/request/guards.ts',
    tests: producerKeys,
    rows: [
      ['a producer key without the scope is accepted', 'if (!found.scopes.includes(scope))', 'if (false)'],
      [
        'of two Authorization fields the first counts',
        'if (only === undefined || another !== undefined) return null',
        'if (only === undefined) return null',
      ],
    ],
  }),
  ...checksIn('guard', {
    file: 'server/http/request/guards.ts',
    tests: ['tests/api/tokens/scopes.test.ts'],
    rows: [['a token with a scope opens every route', 'if (scope === undefined) return', 'if (scope !== null) return']],
  }),
  ...checksIn('guard', {
    file: 'server/http/request/guards.ts',
    tests: ['tests/api/sign-in/session.test.ts'],
    rows: [
      ['of two session cookies the first counts', 'return secrets.length === 1 ?', 'return secrets.length > 0 ?'],
      ['the end of another name is the cookie', ' || !beginsPair(cookieHeader, at)', ''],
    ],
  }),
  ...checksIn('foreign token', {
    file: 'server/sign-in/issuers/read-foreign-token.ts',
    tests: foreign,
    rows: [
      [
        'an extension or an own key is accepted',
        'header === null || refusedHeaders.some((name) => Object.hasOwn(header, name))',
        'header === null',
      ],
      ['one for another service is accepted', '!isFor(issuer.audiences, claims.aud) || ', ''],
      ['a statement or a bound token is accepted', ' || refusedClaims.some((name) => Object.hasOwn(claims, name))', ''],
      ['the type is not checked', ' || !types.includes(typ.toLowerCase())', ''],
      ['one that is not valid yet is accepted', ' || !hasBegun) return null', ') return null'],
      ['it lives as long as it says', 'exp - beginsAt <= maxLifeSeconds ?', 'exp - beginsAt > 0 ?'],
      ['a name twice is accepted', ' && !hasRepeatedName(text)', ''],
      [
        'another spelling is accepted',
        "return Buffer.from(segment, 'base64url').toString('base64url') === segment",
        'return segment.length > 0',
      ],
    ],
  }),
  ...checksIn('foreign token', {
    file: 'server/sign-in/issuers/foreign-tokens.ts',
    tests: foreign,
    rows: [
      [
        'the signature is not checked',
        'if (error instanceof errors.JOSEError) return false',
        'if (error instanceof errors.JOSEError) return true',
      ],
    ],
  }),
  ...checksIn('foreign token', {
    file: 'server/sign-in/issuers/foreign-tokens.ts',
    tests: ['tests/api/issuers/foreign-tokens.test.ts'],
    rows: [
      [
        'an expired or revoked one is accepted from the cache',
        'return at < checkAgainAt && at < subject.expiresAt && !revocations.isRevoked(subject) ? subject : undefined',
        'return at >= 0 && revocations !== undefined && checkAgainAt > 0 ? subject : undefined',
      ],
    ],
  }),
]
