// One-time links, mail, and sign-ins with a provider.
import { checksIn } from '../mutation.ts'

const links = ['tests/api/passwords/links.test.ts']
const lying = ['tests/api/providers/lying-provider.test.ts']
const signInWith = ['tests/api/providers/sign-in-with.test.ts']
const codeFlows = ['tests/api/providers/code-flows.test.ts']
const linked = ['tests/api/providers/linked-accounts.test.ts']
const provider = 'server/sign-in/providers/provider.ts'

export const linksAndProviders = [
  ...checksIn('link', {
    file: 'server/store/sqlite/writes/sign-in/links.ts',
    tests: links,
    rows: [
      [
        'that of another user is found',
        'where l.user_id = ${userId} and l.token_hash = ${tokenHash}',
        'where l.user_id = ${userId} and length(${tokenHash}) > 0',
      ],
    ],
  }),
  ...checksIn('link', {
    file: 'server/sign-in/links/links.ts',
    tests: links,
    rows: [
      [
        'the token is stored and not its hash',
        'tokenHash: hashOf(token), at, expiresAt',
        'tokenHash: token, at, expiresAt',
      ],
      [
        'it names no purpose',
        'const link = { userId, purpose,',
        "const link = { userId, purpose: 'reset' as LinkPurpose,",
      ],
      ['a disabled user gets one', 'if (user.disabledAt !== null) throw disabled()', ''],
      ['a refused password is set', '  refuseFaults(await passwordFaults(dependencies, wanted))\n', ''],
      ['it sets a password after its use', "if (outcome === 'refused') throw linkInvalid()", ''],
    ],
  }),
  ...checksIn('link', {
    file: 'server/http/routes/account/passwords.ts',
    tests: links,
    rows: [['wrong ones are not counted', "  await guesses.begin({ address: source.address }, 'link')\n", '']],
  }),
  ...checksIn('mail', {
    file: 'server/sign-in/links/forgotten.ts',
    tests: ['tests/api/passwords/mail.test.ts', 'tests/api/passwords/mail-limits.test.ts'],
    rows: [
      [
        'there is no limit for a user',
        'const counted = await this.#within(begin, source, { name: username, user })',
        'const counted = { succeed: async () => {} }',
      ],
      [
        'there is no limit for a client',
        'if (!(await this.#within(() => guesses.beginMailRequest(source.address), source, account))) return',
        '',
      ],
      ['a disabled user gets one', ' || disabledAt !== null) return', ') return'],
    ],
  }),
  ...checksIn('provider', {
    file: provider,
    tests: lying,
    rows: [
      ['the state is not checked', 'expectedState: state,', 'expectedState: client.skipStateCheck,'],
      ['a subject may be anything', 'if (!subjectShape.test(subject)) throw', 'if (false) throw'],
      [
        'endpoints may be anywhere',
        "    refuseElsewhere(configuration.serverMetadata().authorization_endpoint ?? '', this.setting.origins)\n",
        '',
      ],
      ['the signature is not checked', '        client.enableNonRepudiationChecks,\n', ''],
      ['another issuer is accepted', 'if (configuration.serverMetadata().issuer !== issuer)', 'if (false)'],
    ],
  }),
  ...checksIn('provider', {
    file: provider,
    tests: signInWith,
    rows: [
      ['the code is exchanged without the verifier', 'pkceCodeVerifier: verifier,', ''],
      [
        'an address is taken unverified',
        " && (isVerified === true || isVerified === 'true') ?",
        ' && isVerified !== 7 ?',
      ],
    ],
  }),
  ...checksIn('provider', {
    file: 'server/sign-in/providers/flow.ts',
    tests: lying,
    rows: [
      ['the cookie of another sign-in is accepted', ' && equalSecrets(flow.state, state)', ''],
      [
        'the cookie of another provider is accepted',
        'flow !== undefined && flow.provider === provider &&',
        'flow !== undefined &&',
      ],
      [
        'it began long ago',
        'return isThis && now < flow.expiresAt ? flow : undefined',
        'return isThis && now > 0 ? flow : undefined',
      ],
    ],
  }),
  ...checksIn('provider', {
    file: 'server/sign-in/providers/accounts.ts',
    tests: signInWith,
    rows: [
      [
        'every provider creates users',
        'if (known !== undefined || !createUsers) return known',
        'if (known) return known',
      ],
    ],
  }),
  ...checksIn('provider', {
    file: 'server/sign-in/providers/accounts.ts',
    tests: linked,
    rows: [
      ['an ended sign-in links an account', "if (outcome === 'refused') throw signInEnded()", ''],
      ["another user's account is linked", "if (outcome === 'taken')", "if (outcome === 'taken' && userId === '')"],
      ['the last way to sign in is unlinked', "if (outcome === 'last')", "if (outcome === 'last' && userId === '')"],
    ],
  }),
  ...checksIn('provider', {
    file: 'server/http/routes/sign-in/providers.ts',
    tests: linked,
    rows: [
      [
        'another session in the browser links an account',
        'if (caller?.userId !== userId || caller.signInId !== signInId) throw signInEnded()',
        '',
      ],
    ],
  }),
  ...checksIn('provider', {
    file: 'server/http/routes/sign-in/providers.ts',
    tests: signInWith,
    rows: [
      [
        'a disabled user signs in',
        'if (user === undefined || user.disabledAt !== null) throw noActiveUser(signedIn.provider)',
        'if (user === undefined) throw noActiveUser(signedIn.provider)',
      ],
      [
        'a code is exchanged twice',
        'const user = (await store.useChallenge(key)) && (await',
        'const user = (await store.findChallenge(key)) && (await',
      ],
    ],
  }),
  ...checksIn('provider', {
    file: 'server/sign-in/providers/bounded-fetch.ts',
    tests: ['server/sign-in/providers/bounded-fetch.test.ts'],
    rows: [['a redirect is followed', "        redirect: 'manual',\n", '']],
  }),
  ...checksIn('provider', {
    file: 'server/http/routes/sign-in/providers.ts',
    tests: codeFlows,
    rows: [
      ['a new password leaves the code open', ' || user.credentialGeneration !== data.generation', ''],
      ['a link begins a flow with a challenge', 'if (challenge !== undefined || (variant', 'if ((variant'],
      [
        'a link begins a flow whose code goes to another origin',
        'originOf(dependencies, place) !== ownOrigin(dependencies))',
        "place === '')",
      ],
      ['a form of any page begins a flow', 'dependencies.allowedOrigins.includes(origin)', 'origin.length > 0'],
      ['a form leads to another origin', 'if (originOf(dependencies, place) !== origin)', 'if (false)'],
    ],
  }),
  ...checksIn('provider', {
    file: 'server/http/routes/sign-in/flow-bond.ts',
    tests: codeFlows,
    rows: [
      ['another browser exchanges the code', 'hashOf((JSON.parse(text) as Flow).state), stateHash)', 'text, text)'],
      [
        'a page of another origin exchanges the code',
        'if (origin !== undefined && headers.origin !== origin)',
        'if (false)',
      ],
      ['the verifier of a page is not compared', ' || !equalSecrets(hashOf(verifier), challenge)', ''],
    ],
  }),
  ...checksIn('provider', {
    file: 'server/http/routes/sign-in/second-factor.ts',
    tests: codeFlows,
    rows: [
      [
        'another browser uses the challenge of a second factor',
        'if (bond !== undefined && !(await isBound(dependencies, request, { bond })))',
        'if (false)',
      ],
    ],
  }),
]
