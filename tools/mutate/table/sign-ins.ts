// Passwords, guesses, known devices, sessions, cookies and the sign-ins of a user.
import { checksIn } from '../mutation.ts'

const guessing = ['tests/api/sign-in/guessing.test.ts']
const policy = ['server/sign-in/password/policy.test.ts']
const credentials = ['tests/api/sign-in/credentials.test.ts']
const session = ['tests/api/sign-in/session.test.ts']
const sessions = ['tests/api/sign-in/sessions.test.ts']
const deviceTokens = ['server/sign-in/devices/device-tokens.test.ts']

export const signIns = [
  ...checksIn('guesses', {
    file: 'server/sign-in/guessing/guesses.ts',
    tests: guessing,
    rows: [
      ['no refusal is heeded', 'if (refusals.length === 0) return', 'if (refusals.length >= 0) return'],
      [
        'an account has a count for each address only',
        'keys: [all, `${all} ${network}`], rates',
        'keys: [`${all} ${network}`], rates',
      ],
      [
        'an address has no limit',
        'keys: [all, `${all} ${network}`], rates, kind',
        'keys: [all, `${all} ${network}`], rates: [], kind',
      ],
      ['IPv6 counts by address', 'networksOfClient(address)', '[address]'],
      ['the delays do not grow', '1_000 * 2 ** n', '1_000'],
    ],
  }),
  ...checksIn('guesses', {
    file: 'server/sign-in/guessing/guesses.ts',
    tests: ['server/sign-in/guessing/guesses.test.ts'],
    rows: [
      [
        'a pair of account and address is counted alone',
        'keys: [all, `${all} ${network}`], rates',
        'keys: [`${all} ${network}`], rates',
      ],
      ['IPv6 counts by /64 alone', 'networksOfClient(address)', 'networksOfClient(address).slice(0, 1)'],
      ['the delays end at 512 s', 'Array.from({ length: 11 }', 'Array.from({ length: 10 }'],
      [
        'a known device counts for the account',
        'keys: [`${all} device ${device}`]',
        'keys: [all, `${all} device ${device}`]',
      ],
    ],
  }),
  ...checksIn('guesses', {
    file: 'server/sign-in/password/credentials.ts',
    tests: guessing,
    rows: [
      ['a password is compared uncounted', '() => guess.begin())', 'async () => {})'],
      [
        'an unknown name is not delayed',
        '{ account: user?.id ?? { unknownName: name }, address',
        '{ ...(user && { account: user.id }), address',
      ],
      ['a sign-in does not forget the failures', 'await guess.succeed()\n', '\n'],
    ],
  }),
  ...checksIn('password', {
    file: 'server/sign-in/password/credentials.ts',
    tests: credentials,
    rows: [
      ['a wrong one signs in', 'user === undefined || !matches || user', 'user === undefined || user'],
      [
        'a disabled user signs in',
        ' || user.disabledAt !== null) throw invalidCredentials()',
        ') throw invalidCredentials()',
      ],
      [
        'an unknown user costs no hash',
        'const { matches, replacement }',
        'if (user === undefined) throw invalidCredentials()\n  const { matches, replacement }',
      ],
    ],
  }),
  ...checksIn('password policy', {
    file: 'server/sign-in/password/policy.ts',
    tests: policy,
    rows: [
      ['a short one is accepted', 'if (length < minLength) return', 'if (length < 1) return'],
      ['a long one is accepted', 'if (length > maxPasswordLength) return', 'if (length > 1e6) return'],
      ['a control character is accepted', 'if (unusable.test(password))', 'if (false)'],
      ['a common one is accepted', 'if (isListed(folded, blocked)) return', 'if (false) return'],
      ['the username is accepted', 'if (isMostlyNames(folded, username, blocked)) {', 'if (false) {'],
      ['a repeated piece is accepted', 'if (isRepeated(folded, minLength, blocked))', 'if (false)'],
    ],
  }),
  ...checksIn('password policy', {
    file: 'server/sign-in/password/new-password.ts',
    tests: ['tests/api/passwords/links.test.ts'],
    rows: [
      [
        'nothing is refused',
        'faulting(faults, () => checkPassword(prepared',
        '(() => {})(); faulting([], () => checkPassword(prepared',
      ],
    ],
  }),
  ...checksIn('password change', {
    file: 'server/http/routes/account/passwords.ts',
    tests: ['tests/api/passwords/change.test.ts'],
    rows: [['the current one is not compared', '  await checkCredentials(dependencies, account, presented)\n', '']],
  }),
  ...checksIn('device token', {
    file: 'server/sign-in/devices/device-tokens.ts',
    tests: deviceTokens,
    rows: [
      [
        'a made-up seal is accepted',
        "return this.#sealing.isMac('device-tokens', sealed(user, deviceId), seal)",
        'return seal.length === 43',
      ],
      [
        'it is for every user',
        'return `${id} ${deviceId} ${deviceGeneration}`',
        'return `${id.slice(0, 0)} ${deviceId} ${deviceGeneration}`',
      ],
      [
        'it is for every device',
        'return `${id} ${deviceId} ${deviceGeneration}`',
        'return `${id} ${deviceId.slice(0, 0)} ${deviceGeneration}`',
      ],
      [
        'an old generation is known',
        'return `${id} ${deviceId} ${deviceGeneration}`',
        'return `${id} ${deviceId} ${deviceGeneration * 0}`',
      ],
    ],
  }),
  ...checksIn('device', {
    file: 'server/http/routes/sign-in/finish-sign-in.ts',
    tests: ['tests/api/sign-in/new-devices.test.ts'],
    rows: [
      [
        'a reported password signs in from an unknown one',
        "if (method === 'password' && user.passwordReportedAt !== null && !isKnownDevice) throw passwordReported()",
        '',
      ],
    ],
  }),
  ...checksIn('session', {
    file: 'server/sign-in/session.ts',
    tests: session,
    rows: [
      ['it never ends by itself', 'if (at >= this.#endOf(session, at)) return null', ''],
      [
        'it does not end if it is used',
        'return Math.min(createdAt + this.#options.lifetimeMs, lastSeenAt + this.#options.idleMs)',
        'return createdAt === 0 ? 0 : lastSeenAt + this.#options.idleMs',
      ],
      [
        'it does not end if it is unused',
        'return Math.min(createdAt + this.#options.lifetimeMs, lastSeenAt + this.#options.idleMs)',
        'return createdAt + this.#options.lifetimeMs',
      ],
      ['a sign-in does not end the one before', 'replaces: keysOf(replaces)', 'replaces: keysOf(replaces).slice(0, 0)'],
    ],
  }),
  ...checksIn('session', {
    file: 'server/sign-in/session.ts',
    tests: ['tests/api/sign-in/clock-set-back.test.ts'],
    rows: [
      ['one of the future is accepted', 'if (lastSeenAt > at + clockLeewayMs) return Number.NEGATIVE_INFINITY', ''],
    ],
  }),
  ...checksIn('sign-ins', {
    file: 'server/sign-in/sign-ins.ts',
    tests: sessions,
    rows: [
      ['the end of all others is not heeded on this node', 'await revocations.refresh()', ''],
      [
        'the tokens of an ended one work on',
        'this.#options.revocations.note({ userId, signInId, notBefore: at, expiresAt: revocationExpiresAt })',
        '',
      ],
    ],
  }),
  ...checksIn('sign-out', {
    file: 'server/sign-in/end-presented.ts',
    tests: ['tests/api/sign-in/end-presented.test.ts'],
    rows: [
      [
        'a token is not revoked',
        '  await Promise.all([...signIns.values()].map((subject) => accessTokens.revoke(subject, source)))\n',
        '',
      ],
      ['a session is not ended', 'sessions.revoke(secrets, source),', 'sessions.revoke(secrets.slice(0, 0), source),'],
    ],
  }),
  ...checksIn('cookie', {
    file: 'server/http/response/cookies.ts',
    tests: session,
    rows: [
      ['scripts read it', '; HttpOnly', ''],
      ['forms of other sites send it', '; SameSite=${sameSite}', ''],
      ['it is sent without TLS', "const secure = isSecure ? '; Secure' : ''", "const secure = isSecure ? '' : ''"],
    ],
  }),
  ...checksIn('guesses', {
    file: 'server/store/postgres/functions/sign-in/guesses.sql',
    tests: ['server/store/postgres/sign-in/guesses.test.ts'],
    rows: [
      [
        'two nodes count at the same time',
        '    perform 1 from guess_count where key = one for update;\n  end loop;\n  refusals',
        '  end loop;\n  refusals',
      ],
    ],
  }),
]
