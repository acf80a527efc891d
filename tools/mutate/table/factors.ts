// Second factors, challenges, passkeys and fresh sign-ins.
import { checksIn } from '../mutation.ts'

const secondFactor = ['tests/api/factors/second-factor.test.ts']
const factorTests = ['tests/api/factors/factors.test.ts']
const passkeys = ['tests/api/factors/passkeys.test.ts']
const passkeyFactors = ['tests/api/factors/passkey-factors.test.ts']
const storeFactors = 'server/store/sqlite/writes/sign-in/factors.ts'

export const factors = [
  ...checksIn('second factor', {
    file: 'server/http/routes/sign-in/second-factor.ts',
    tests: secondFactor,
    rows: [
      [
        'it is not demanded',
        'if (offered.length === 0) return finishSignIn(dependencies, user, facts, exchange)',
        'if (offered.length >= 0) return finishSignIn(dependencies, user, facts, exchange)',
      ],
      [
        'a new password leaves the challenge open',
        'if (generation !== user.credentialGeneration) throw challengeEnded()',
        '',
      ],
    ],
  }),
  ...checksIn('second factor', {
    file: 'server/sign-in/factors/proofs.ts',
    tests: secondFactor,
    rows: [
      ['a wrong code is right', "if (outcome === 'refused') throw wrongSecondFactor()", ''],
      [
        'an ended challenge is right',
        "if (outcome === 'no-challenge') throw challengeEnded()\n  if (outcome === 'refused')",
        "if (outcome === 'refused')",
      ],
      ['guesses of a code count as those of the password', "}, 'second-factor')", "}, 'password')"],
    ],
  }),
  ...checksIn('TOTP', {
    file: 'server/sign-in/factors/totp.ts',
    tests: ['server/sign-in/factors/totp.test.ts'],
    rows: [
      ['a code of two steps before is right', 'const window = 1', 'const window = 2'],
      ['a text of another form is compared', '/^\\d{6}$/.test(token)', 'token.length > 0'],
    ],
  }),
  ...checksIn('TOTP', {
    file: storeFactors,
    tests: secondFactor,
    rows: [['a code is right twice', 'coalesce(last_step, -1) < ${step}', '${step} >= 0']],
  }),
  ...checksIn('TOTP', {
    file: 'server/sign-in/factors/factors.ts',
    tests: factorTests,
    rows: [
      [
        'a wrong first code confirms a factor',
        'if (step === undefined) throw wrongSecondFactor()',
        'if (step === undefined && code === "") throw wrongSecondFactor()',
      ],
      [
        'the secret of another factor is opened',
        'secret !== undefined && factorId === factor.id',
        'secret !== undefined && factorId !== undefined',
      ],
    ],
  }),
  ...checksIn('recovery code', {
    file: storeFactors,
    tests: secondFactor,
    rows: [
      ['it is right twice', 'and code_hash = ${codeHash} and used_at is null`', 'and code_hash = ${codeHash}`'],
      [
        'that of another user is right',
        'where user_id = ${userId} and code_hash = ${codeHash} and',
        'where ${userId} = ${userId} and code_hash = ${codeHash} and',
      ],
    ],
  }),
  ...checksIn('challenge', {
    file: 'server/sign-in/factors/challenges.ts',
    tests: ['server/sign-in/factors/challenges.test.ts'],
    rows: [
      [
        'one for another purpose is accepted',
        'return found?.purpose === purpose ? {',
        'return found !== undefined ? {',
      ],
    ],
  }),
  ...checksIn('challenge', {
    file: storeFactors,
    tests: secondFactor,
    rows: [
      [
        'it signs in again and again',
        'context.sql.run`delete from challenge where user_id = ${challenge.userId} and hash = ${challenge.hash}`',
        'context.sql.run`delete from challenge where user_id = ${challenge.userId} and hash = ${challenge.hash} and 1 = 0`',
      ],
    ],
  }),
  ...checksIn('fresh sign-in', {
    file: 'server/sign-in/factors/freshness.ts',
    tests: factorTests,
    rows: [
      ['it is fresh for ever', 'if (now - confirmedAt <= freshForMs) return', 'if (now - confirmedAt >= 0) return'],
    ],
  }),
  ...checksIn('fresh sign-in', {
    file: 'server/http/request/guards.ts',
    tests: factorTests,
    rows: [['the guard does not ask', '  refuseStale(subject, dependencies.users.now())\n', '']],
  }),
  ...checksIn('fresh sign-in', {
    file: 'server/http/routes/account/confirm.ts',
    tests: factorTests,
    rows: [
      [
        'the password alone renews it, with a second factor',
        "if (offered.length === 0) return 'password'",
        "if (offered.length >= 0) return 'password'",
      ],
      [
        'a wrong password renews it',
        '  await checkCredentials(dependencies, { name, user: found }, { password, address, signal, device })\n',
        '',
      ],
    ],
  }),
  ...checksIn('passkey', {
    file: 'server/sign-in/factors/passkeys/client-data.ts',
    tests: passkeys,
    rows: [
      ['a signature for another purpose is accepted', 'if (type !== `webauthn.${ceremony}`)', 'if (false)'],
      ['any page may use it', "if (typeof origin !== 'string' || !origins.includes(origin))", 'if (false)'],
      ['a frame of another site may use it', 'if (crossOrigin === true || topOrigin !== undefined)', 'if (false)'],
    ],
  }),
  ...checksIn('passkey', {
    file: 'server/sign-in/factors/passkeys/assertion.ts',
    tests: passkeys,
    rows: [
      [
        'one for another host is heeded',
        "if (!hash('sha256', id, 'buffer').equals(data.rpIdHash)) throw",
        'if (false) throw',
      ],
      ['a user who was not verified is heeded', 'if (!data.flags.uv)', 'if (false)'],
    ],
  }),
  ...checksIn('passkey', {
    file: 'server/sign-in/factors/passkeys/assertion.ts',
    tests: ['server/sign-in/factors/passkeys/ceremonies.test.ts'],
    rows: [
      [
        'a signature for another host is right',
        'expectedRPID: relyingParty.id,\n    requireUserVerification: true,\n    // The store',
        'expectedRPID: undefined as never,\n    requireUserVerification: true,\n    // The store',
      ],
      [
        'a signature without verification is right',
        'requireUserVerification: true,\n    // The store',
        'requireUserVerification: false,\n    // The store',
      ],
      [
        'a signature for another challenge is right',
        "expectedChallenge: Buffer.from(challenge).toString('base64url'),",
        'expectedChallenge: () => true,',
      ],
      [
        'a wrong signature is right',
        'return checked?.verified ? checked.authenticationInfo.newCounter : undefined',
        'return checked?.authenticationInfo.newCounter ?? 1',
      ],
    ],
  }),
  ...checksIn('passkey', {
    file: 'server/sign-in/factors/passkeys/registration.ts',
    tests: ['server/sign-in/factors/passkeys/ceremonies.test.ts'],
    rows: [
      [
        'a new one without verification is accepted',
        'requireUserVerification: true,',
        'requireUserVerification: false,',
      ],
      ['a new one for another host is accepted', 'expectedRPID: relyingParty.id,', 'expectedRPID: undefined as never,'],
      [
        'a new one of another challenge is accepted',
        "expectedChallenge: Buffer.from(challenge).toString('base64url'),",
        'expectedChallenge: () => true,',
      ],
      ['a certificate is read', 'if (!isBare)', 'if (false)'],
    ],
  }),
  ...checksIn('passkey', {
    file: 'server/sign-in/factors/passkeys/challenges.ts',
    tests: ['server/sign-in/factors/passkeys/challenges.test.ts'],
    rows: [
      [
        'a made-up challenge is accepted',
        "if (!sealing.isMac('passkeys', boundTo(purpose, `${expires}.${random}`), mac)) return undefined",
        '',
      ],
      ['an old challenge is accepted', 'return at < expiresAt ?', 'return at > 0 ?'],
      ['a challenge is for every user', "purpose.ceremony === 'create' ? purpose.userId : ''", "''"],
    ],
  }),
  ...checksIn('passkey', {
    file: 'server/sign-in/factors/passkeys/passkeys.ts',
    tests: passkeys,
    rows: [
      ['a challenge is used twice', 'if (!(await store.spendChallenge({ userId, ...challenge })))', 'if (false)'],
      ['a copy signs in', "if (outcome !== 'refused') {", "if (outcome === 'refused') return 'done'\n  {"],
      [
        'a disabled user signs in',
        'user === undefined || user.disabledAt !== null || credential',
        'user === undefined || credential',
      ],
      [
        'a wrong signature signs in',
        'if (signCount === undefined) throw wrongPasskey()\n  return {',
        'if (signCount === undefined) return { user, factorId: credential.factorId, signCount: 1_000, challenge: given, guess }\n  return {',
      ],
      [
        'refused ones are not counted',
        "await guesses.begin({ address }, 'passkey')",
        "guesses.of({ address }, 'passkey')",
      ],
    ],
  }),
  ...checksIn('passkey', {
    file: 'server/sign-in/factors/passkeys/passkeys.ts',
    tests: passkeyFactors,
    rows: [
      [
        'that of another user completes a sign-in',
        'const owner = userId ?? namedUser(response)',
        'const owner = namedUser(response) ?? userId',
      ],
      [
        'the challenge adds a second one',
        '  await spend(dependencies, userId, given)\n  const at = dependencies.now()\n',
        '  const at = dependencies.now()\n',
      ],
    ],
  }),
  ...checksIn('passkey', {
    file: storeFactors,
    tests: passkeys,
    rows: [['the counter is not compared', 'sign_count < ${signCount} or', '1 = 1 or sign_count < ${signCount} or']],
  }),
  ...checksIn('passkey', {
    file: 'server/sign-in/factors/passkeys/relying-party.ts',
    tests: ['server/sign-in/factors/passkeys/relying-party.test.ts'],
    rows: [['plain HTTP is accepted', "if (url.protocol !== 'https:' && ", 'if (false && ']],
  }),
]
