// The examples in the OpenAPI document: what ann and a build system send and receive. A body or a response without one fails
// tests/api/openapi-examples.test.ts, which checks them against their schemas and sends the requests to a service.

import * as factors from './factor-schemas.ts'
import * as passkeys from './passkey-schemas.ts'
import * as bodies from './request-schemas.ts'
import type { Data, Notification, User, UserAccount, Whole } from './response-schemas.ts'
import type { Schema, TypeOf } from './schema.ts'

const ann: TypeOf<typeof User> = {
  id: '019a9b3e-5c1f-7a42-9d0b-3f6f1c2e8a70',
  externalId: null,
  username: 'ann',
  displayName: 'Ann Lee',
  locale: 'en',
  email: null,
  createdAt: '2026-11-02T09:14:05.120Z',
}
const profile = { displayName: 'Kim Park', locale: 'de-CH', email: 'kim@example.org', emailVerified: true }
const kim: TypeOf<typeof UserAccount> = {
  id: '019a9b40-11d2-7b31-8e4f-6a2c9d0e7f15',
  externalId: 'customer-42',
  username: null,
  ...profile,
  createdAt: '2026-11-02T09:15:51.880Z',
  disabled: false,
}
const expiresAt = '2026-11-03T08:10:00.000Z'
const linkToken = 'mJrYV3ZbHkqO4sW7cT1xE9uLa0dNf5gRi8pQ2wXvB6y'
const token = 'eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiIwMTlhOWIzZSJ9.c2lnbmF0dXJl'

const phone = {
  id: '019a9b41-7c02-7d11-b3a5-0e9f2c4d6a8b',
  kind: 'totp',
  label: 'Phone',
  confirmed: true,
  createdAt: '2026-11-02T09:20:11.004Z',
  lastUsedAt: '2026-11-02T09:20:40.310Z',
} as const
const recoveryCodes = ['3kfm-xw7p-a2hq-vt5n-8gcd-r6yz', 'b9sk-4mqe-j7rw-2xtn-5ufa-h3pc']

const build = {
  title: 'Build 1042 has failed',
  body: 'Two tests failed on main.',
  url: '/builds/1042',
  category: 'builds',
  data: { build: 1042 },
  key: 'build-main',
}
const notification: TypeOf<typeof Notification> = {
  id: '019a9f63-7d20-7c55-8a1e-5b0d9e4f6c21',
  ...build,
  createdAt: '2026-11-03T07:41:12.250Z',
  updatedAt: '2026-11-03T07:41:12.250Z',
  seq: 1,
  count: 1,
  read: false,
  readAt: null,
  archivedAt: null,
}
const me = { user: ann, emailVerified: false, proof: 'session', expiresAt, passwordChangeRequired: false } as const
const state = { version: 1, unread: 1, total: 1 }
const renewed = { User: ann, token, expiresAt, variant: 'stateless' } as const
const deviceToken = 'q3Jm0sXb1kYv7TzHnE5wLw.4Fq2xN8cVbT1yRk6GmZ0hUeJ7dSaPoW3iL9tXvBnMCg'
const stateless = { ...renewed, deviceToken }

/** Base64url of the text that the service gave. */
const challenge = 'MTc2MjE1NTk3MjI1MC5hYmNkZWZnaGlqa2xtbm9wcXJzdHUubWFj'

const credential = {
  id: 'dGhlIHBhc3NrZXkgb2YgYW5u',
  rawId: 'dGhlIHBhc3NrZXkgb2YgYW5u',
  type: 'public-key',
  clientExtensionResults: {},
} as const

const of = <Body>(schema: Schema<Body>, example: Body) => [schema, example] as const

export const requestExamples: ReadonlyMap<Schema, unknown> = new Map<Schema, unknown>([
  of(bodies.LoginBody, { username: 'ann', password: 'plum orchard gate 41', variant: 'stateless' }),
  of(bodies.SignInForm, {
    username: 'ann',
    password: 'plum orchard gate 41',
    return_to: 'https://shop.example.org/orders',
  }),
  of(bodies.ForgotForm, { account: 'ann@example.org' }),
  of(passkeys.NewPasskeyBody, {
    label: 'My laptop',
    response: {
      ...credential,
      response: {
        clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoiLi4uIn0',
        attestationObject: 'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVg',
        transports: ['internal'],
      },
    },
  }),
  of(passkeys.PasskeyOptionsBody, {}),
  of(passkeys.PasskeySignInBody, {
    variant: 'stateful',
    response: {
      ...credential,
      response: {
        clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiLi4uIn0',
        authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ',
        signature: 'MEUCIQDXUQdP7n1iZ5S7nCgLqyBn5J5sUlCJ0d3R',
        userHandle: 'MDFhMWZiYWUtOWYwMi03NGI4LTgzYWMtOGZiMWIwMjRlMjc2',
      },
    },
  }),
  of(factors.NewTotpBody, { label: 'Phone' }),
  of(factors.TotpConfirmation, { id: phone.id, code: '492039' }),
  of(factors.SecondFactorBody, {
    challenge: `${ann.id}.hU5kQx0c3T2vYb7m1nZ8pLr4sWd6fGj9aEoIuKtRqXw`,
    code: '492039',
  }),
  of(factors.ConfirmationBody, { password: 'plum orchard gate 41' }),
  of(bodies.IssueBody, { scope: 'inbox', lifetime: 600 }),
  of(bodies.ProviderForm, {
    return_to: 'https://shop.example.org/signed-in',
    challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  }),
  of(bodies.ProviderCodeBody, {
    code: `${ann.id}.mHq1v0w5Ov8v3s2mXkq9c1x7Jt4Zb6Ya0LdRfGhUeWk`,
    verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  }),
  of(bodies.ProviderLinkBody, { returnTo: '/account' }),
  of(bodies.OwnProfile, { displayName: 'Ann', locale: 'de-CH' }),
  of(bodies.DeliveryBody, { recipients: [{ username: 'ann' }], ...build }),
  of(bodies.LinkBody, { purpose: 'reset' }),
  of(bodies.ForgotBody, { username: 'ann' }),
  of(bodies.PasswordChangeBody, {
    currentPassword: 'plum orchard gate 41',
    newPassword: 'grey heron over the weir',
  }),
  of(bodies.LinkTokenBody, { token: linkToken }),
  of(bodies.ResetBody, { token: linkToken, newPassword: 'grey heron over the weir' }),
  of(bodies.UserProfile, profile),
  of(bodies.NewUser, { username: 'lee', password: 'quiet lantern above the harbour', displayName: 'Lee' }),
  of(bodies.UserChange, { displayName: 'Kim Park-Lee', disabled: false }),
  of(bodies.UserEntries, { users: [{ externalId: 'customer-42', ...profile }] }),
])

const whole: { readonly [Name in keyof Whole]: TypeOf<Whole[Name]> } = {
  Login: stateless,
  StatelessLogin: renewed,
  ProviderList: {
    items: [{ name: 'staff', displayName: 'Example Staff', url: 'https://bell.example.org/login/with/staff' }],
  },
  PasskeyRequestOptions: {
    challenge,
    rpId: 'carillon.example',
    allowCredentials: [],
    userVerification: 'required',
    timeout: 300_000,
  },
  KeySet: {
    keys: [
      {
        kty: 'OKP',
        crv: 'Ed25519',
        x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
        kid: 'u5Yk0cKRdvGBvsY7',
        alg: 'EdDSA',
        use: 'sig',
      },
    ],
  },
  StreamEvent: { ...state, notification },
}

const data: { readonly [Name in keyof Data]: TypeOf<Data[Name]> } = {
  ProviderAccounts: {
    items: [
      {
        provider: 'staff',
        displayName: 'Example Staff',
        email: 'ann@example.org',
        createdAt: ann.createdAt,
        lastUsedAt: '2026-11-03T07:31:10.000Z',
      },
    ],
  },
  ProviderLink: { url: 'https://id.example.org/auth?client_id=bell&response_type=code' },
  Totp: {
    id: phone.id,
    secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    uri: 'otpauth://totp/bell.example.org:ann?issuer=bell.example.org&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30',
    qr: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 490 490"></svg>',
  },
  FactorAdded: { ...phone, recoveryCodes },
  FactorList: { items: [phone], recoveryCodesLeft: 10 },
  RecoveryCodes: { recoveryCodes },
  Token: { token, expiresAt },
  Restricted: { userId: ann.id, username: 'ann', proof: 'session' },
  Me: me,
  Session: me,
  PasskeyCreationOptions: {
    challenge,
    rp: { id: 'carillon.example', name: 'carillon.example' },
    user: { id: 'MDE5YTlmNjMtN2QyMC03YzU1LThhMWUtNWIwZDllNGY2YzIx', name: 'ann', displayName: 'Ann' },
    pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
    excludeCredentials: [],
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
    timeout: 300_000,
  },
  NotificationPage: { ...state, items: [notification], hasMore: false, next: null },
  Notification: notification,
  Counts: { total: 1, unread: 1, categories: { builds: { total: 1, unread: 1 } } },
  Changes: {
    ...state,
    created: [notification],
    changed: [],
    readAlls: [],
    removed: [],
    position: '1-5f3a9c1e',
    hasMore: false,
  },
  Delivery: {
    deliveryId: '019a9f63-7d1f-7b03-9c4d-2a7e8f10b6d3',
    results: [{ userId: ann.id, id: notification.id, status: 'delivered' }],
  },
  ActivityPage: {
    items: [
      {
        id: '019a9f63-7d1f-7b03-9c4d-2a7e8f10b6d4',
        at: expiresAt,
        event: 'sign-in',
        actor: 'user',
        address: '192.0.2.7',
        userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
        device: 'Firefox on Linux',
        signInId: '019a9f63-7d1f-7b03-9c4d-2a7e8f10b6d5',
        count: 1,
        detail: { variant: 'stateful', method: 'password' },
      },
    ],
    next: null,
  },
  UserAccount: kim,
  UserLink: { url: `https://bell.example.org/reset#${linkToken}`, expiresAt },
  LinkFacts: { username: 'ann', purpose: 'reset', expiresAt },
  UserSessionPage: {
    items: [
      {
        id: '019a9f5c-2b10-7d3e-9c41-7f0a1b2c3d4e',
        current: true,
        variant: 'stateful',
        device: 'Firefox on Linux',
        address: '203.0.113.7',
        createdAt: '2026-11-02T08:10:00.000Z',
        lastSeenAt: '2026-11-03T07:40:00.000Z',
        expiresAt: '2026-12-02T08:10:00.000Z',
      },
    ],
    next: null,
  },
  Disowned: { passwordChangeRequired: true },
  UserPage: { items: [kim], next: null },
  UserPuts: { results: [{ externalId: 'customer-42', status: 'created', user: kim }] },
  Health: { status: 'ready' },
}

export const responseExamples: Readonly<Record<string, unknown>> = {
  ...whole,
  ...Object.fromEntries(Object.entries(data).map(([name, one]) => [`${name}Response`, { success: true, data: one }])),
}

export const streamExample = `event: created\nid: 1-5f3a9c1e\ndata: ${JSON.stringify(whole.StreamEvent)}\n\n`

export const errorExample = {
  success: false,
  error: {
    code: 'INTERNAL',
    status: 500,
    message: 'The service failed; its log has the reason under this request id',
    requestId: '1c7e4f0a-2n',
  },
}
