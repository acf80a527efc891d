// The examples in the OpenAPI document: what ann and a build system send and receive. A body or a response without one fails
// tests/api/openapi-examples.test.ts, which checks them against their schemas and sends the requests to a service.

import type { ConfirmationBody, NewTotpBody, SecondFactorBody, TotpConfirmation } from './factor-schemas.ts'
import type { NewPasskeyBody, PasskeyOptionsBody, PasskeySignInBody } from './passkey-schemas.ts'
import type {
  DeliveryBody,
  ForgotBody,
  ForgotForm,
  IssueBody,
  LinkBody,
  LinkTokenBody,
  LoginBody,
  NewUser,
  OwnProfile,
  PasswordChangeBody,
  ProviderCodeBody,
  ProviderForm,
  ProviderLinkBody,
  ResetBody,
  SignInForm,
  UserChange,
  UserEntries,
  UserProfile,
} from './request-schemas.ts'
import type { Notification, ResponseName, responses, User, UserAccount } from './response-schemas.ts'
import type { TypeOf } from './schema.ts'

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

/** By the component of the body. */
export const requestExamples: Readonly<Record<string, unknown>> = {
  Credentials: { username: 'ann', password: 'plum orchard gate 41', variant: 'stateless' } satisfies LoginBody,
  SignInForm: {
    username: 'ann',
    password: 'plum orchard gate 41',
    return_to: 'https://shop.example.org/orders',
  } satisfies SignInForm,
  ForgotForm: { account: 'ann@example.org' } satisfies ForgotForm,
  NewPasskey: {
    label: 'My laptop',
    response: {
      id: 'dGhlIHBhc3NrZXkgb2YgYW5u',
      rawId: 'dGhlIHBhc3NrZXkgb2YgYW5u',
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoiLi4uIn0',
        attestationObject: 'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVg',
        transports: ['internal'],
      },
    },
  } satisfies NewPasskeyBody,
  PasskeyOptionsRequest: {} satisfies PasskeyOptionsBody,
  PasskeySignIn: {
    variant: 'stateful',
    response: {
      id: 'dGhlIHBhc3NrZXkgb2YgYW5u',
      rawId: 'dGhlIHBhc3NrZXkgb2YgYW5u',
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiLi4uIn0',
        authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ',
        signature: 'MEUCIQDXUQdP7n1iZ5S7nCgLqyBn5J5sUlCJ0d3R',
        userHandle: 'MDFhMWZiYWUtOWYwMi03NGI4LTgzYWMtOGZiMWIwMjRlMjc2',
      },
    },
  } satisfies PasskeySignInBody,
  NewTotp: { label: 'Phone' } satisfies NewTotpBody,
  TotpConfirmation: { id: phone.id, code: '492039' } satisfies TotpConfirmation,
  SecondFactor: {
    challenge: `${ann.id}.hU5kQx0c3T2vYb7m1nZ8pLr4sWd6fGj9aEoIuKtRqXw`,
    code: '492039',
  } satisfies SecondFactorBody,
  SignInConfirmation: { password: 'plum orchard gate 41' } satisfies ConfirmationBody,
  TokenRequest: { scope: 'inbox', lifetime: 600 } satisfies IssueBody,
  ProviderForm: {
    return_to: 'https://shop.example.org/signed-in',
    challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  } satisfies ProviderForm,
  ProviderCode: {
    code: `${ann.id}.mHq1v0w5Ov8v3s2mXkq9c1x7Jt4Zb6Ya0LdRfGhUeWk`,
    verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  } satisfies ProviderCodeBody,
  ProviderLink: { returnTo: '/account' } satisfies ProviderLinkBody,
  OwnProfile: { displayName: 'Ann', locale: 'de-CH' } satisfies OwnProfile,
  DeliveryRequest: { recipients: [{ username: 'ann' }], ...build } satisfies DeliveryBody,
  LinkRequest: { purpose: 'reset' } satisfies LinkBody,
  ForgottenPassword: { username: 'ann' } satisfies ForgotBody,
  PasswordChange: {
    currentPassword: 'plum orchard gate 41',
    newPassword: 'grey heron over the weir',
  } satisfies PasswordChangeBody,
  LinkToken: { token: linkToken } satisfies LinkTokenBody,
  PasswordReset: { token: linkToken, newPassword: 'grey heron over the weir' } satisfies ResetBody,
  UserProfile: profile satisfies UserProfile,
  NewUser: { username: 'lee', password: 'quiet lantern above the harbour', displayName: 'Lee' } satisfies NewUser,
  UserChange: { displayName: 'Kim Park-Lee', disabled: false } satisfies UserChange,
  UserEntries: { users: [{ externalId: 'customer-42', ...profile }] } satisfies TypeOf<typeof UserEntries>,
}

export const responseExamples: { readonly [Name in ResponseName]: TypeOf<(typeof responses)[Name]> } = {
  Login: stateless,
  StatelessLogin: renewed,
  ProviderList: {
    items: [{ name: 'staff', displayName: 'Example Staff', url: 'https://bell.example.org/login/with/staff' }],
  },
  ProviderAccountsResponse: {
    success: true,
    data: {
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
  },
  ProviderLinkResponse: {
    success: true,
    data: { url: 'https://id.example.org/auth?client_id=bell&response_type=code' },
  },
  TotpResponse: {
    success: true,
    data: {
      id: phone.id,
      secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
      uri: 'otpauth://totp/bell.example.org:ann?issuer=bell.example.org&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30',
      qr: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 490 490"></svg>',
    },
  },
  FactorAddedResponse: { success: true, data: { ...phone, recoveryCodes } },
  FactorListResponse: { success: true, data: { items: [phone], recoveryCodesLeft: 10 } },
  RecoveryCodesResponse: { success: true, data: { recoveryCodes } },
  TokenResponse: { success: true, data: { token, expiresAt } },
  RestrictedResponse: { success: true, data: { userId: ann.id, username: 'ann', proof: 'session' } },
  MeResponse: { success: true, data: me },
  SessionResponse: { success: true, data: me },
  PasskeyCreationOptionsResponse: {
    success: true,
    data: {
      challenge,
      rp: { id: 'carillon.example', name: 'carillon.example' },
      user: { id: 'MDE5YTlmNjMtN2QyMC03YzU1LThhMWUtNWIwZDllNGY2YzIx', name: 'ann', displayName: 'Ann' },
      pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      attestation: 'none',
      timeout: 300_000,
    },
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
  NotificationPageResponse: { success: true, data: { ...state, items: [notification], hasMore: false, next: null } },
  NotificationResponse: { success: true, data: notification },
  CountsResponse: {
    success: true,
    data: { total: 1, unread: 1, categories: { builds: { total: 1, unread: 1 } } },
  },
  ChangesResponse: {
    success: true,
    data: {
      ...state,
      created: [notification],
      changed: [],
      readAlls: [],
      removed: [],
      position: '1-5f3a9c1e',
      hasMore: false,
    },
  },
  StreamEvent: { ...state, notification },
  DeliveryResponse: {
    success: true,
    data: {
      deliveryId: '019a9f63-7d1f-7b03-9c4d-2a7e8f10b6d3',
      results: [{ userId: ann.id, id: notification.id, status: 'delivered' }],
    },
  },
  ActivityPageResponse: {
    success: true,
    data: {
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
  },
  UserAccountResponse: { success: true, data: kim },
  UserLinkResponse: { success: true, data: { url: `https://bell.example.org/reset#${linkToken}`, expiresAt } },
  LinkFactsResponse: { success: true, data: { username: 'ann', purpose: 'reset', expiresAt } },
  UserSessionPageResponse: {
    success: true,
    data: {
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
  },
  DisownedResponse: { success: true, data: { passwordChangeRequired: true } },
  UserPageResponse: { success: true, data: { items: [kim], next: null } },
  UserPutsResponse: {
    success: true,
    data: { results: [{ externalId: 'customer-42', status: 'created', user: kim }] },
  },
  HealthResponse: { success: true, data: { status: 'ready' } },
}

export const streamExample = `event: created\nid: 1-5f3a9c1e\ndata: ${JSON.stringify(responseExamples.StreamEvent)}\n\n`

export const errorExample = {
  success: false,
  error: {
    code: 'INTERNAL',
    status: 500,
    message: 'The service failed; its log has the reason under this request id',
    requestId: '1c7e4f0a-2n',
  },
}
