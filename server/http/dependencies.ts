// The rest of the service, as the HTTP layer sees it: what compose.ts passes to createApp, and what every handler receives.

import type { Notices } from '../mail/notices.ts'
import type { SignInLog } from '../audit/sign-in-log.ts'
import type { AddressRanges } from '../basics/ip-addresses.ts'
import type { Deliveries } from '../delivery/deliver.ts'
import type { Worlds } from '../demonstration/worlds.ts'
import type { FactorDependencies } from '../factors/dependencies.ts'
import type { DeviceTokens } from '../guessing/device-tokens.ts'
import type { Guesses } from '../guessing/guesses.ts'
import type { Inbox } from '../inbox/inbox.ts'
import type { ForgottenPasswords } from '../links/forgotten.ts'
import type { LinkSettings } from '../links/links.ts'
import type { ChangesSince } from '../live/changes.ts'
import type { Live } from '../live/live.ts'
import type { Log } from '../basics/log.ts'
import type { ServedScripts } from '../pages/served-scripts.ts'
import type { Passwords } from '../passwords/passwords.ts'
import type { ProducerKeys } from '../producers/producer-key.ts'
import type { ProviderDependencies } from '../providers/accounts.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { SignIns } from '../sessions/sign-ins.ts'
import type { Store } from '../store/store.ts'
import type { AccessTokens } from '../tokens/access-token.ts'
import type { SigningKeys } from '../tokens/signing-keys.ts'
import type { UserDependencies } from '../users/users.ts'
import type { KeptTexts } from './response/encoded-file.ts'

export type AppDependencies = {
  store: Store
  passwords: Passwords
  guesses: Guesses
  devices: DeviceTokens
  users: UserDependencies
  links: LinkSettings
  /** Undefined without a mail server. */
  forgotten: ForgottenPasswords | undefined
  sessions: Sessions
  signIns: SignIns
  notices: Pick<Notices, 'noteDevice'>
  newDeviceNotices: boolean
  accessTokens: AccessTokens
  keys: SigningKeys
  signInLog: SignInLog
  factors: FactorDependencies
  /** The variant of a login that does not name one. */
  variant: 'stateful' | 'stateless'
  cookie: Cookie
  deviceCookie: Cookie
  /** The public URL, without a slash at its end. If it is not a setting, it is known only after the service listens. */
  publicUrl: () => string
  pages: PageSettings
  /** False in a world of the demonstration, which has the API alone: scripts of its pages would share the browser's storage with ours. */
  hasPages: boolean
  /** Undefined if there is no demonstration. Its code is loaded at the first call. */
  demonstration: (() => Promise<Worlds>) | undefined
  producerKeys: ProducerKeys
  providers: ProviderDependencies
  inbox: Inbox
  live: Live
  changes: ChangesSince
  deliveries: Deliveries
  readiness: Readiness
  trustedProxies: AddressRanges
  allowedOrigins: readonly string[]
  /** The only URLs to which a sign-in may lead, besides pages of the service; any place of an allowed origin if there are none. */
  returnUrls: readonly string[]
  /** Host names under which the service accepts requests without `Authorization`, besides `localhost` and addresses. */
  hosts: readonly string[]
  isHttps: boolean
  hstsSubdomains: boolean
  log: Log
}

export type Dependencies = AppDependencies & {
  scripts: ServedScripts
  /** The description of the API. `document`: the OpenAPI document, whose type depends on the routes and so on these dependencies. */
  documentation: { document: () => object; style: () => string; kept: KeptTexts }
}

/** The settings of the pages. `prefix`: '' or such as `/hello`, where they are inside the service. */
export type PageSettings = {
  prefix: string
  name: string
  accent: string | undefined
  logo: { bytes: Buffer; type: string } | undefined
  /** Only this machine reaches the service, as far as the settings say. */
  isHere: boolean
  hasDemonstration: boolean
  /** Whether the pages of users have the link. */
  hasDocumentationLink: boolean
  /** Whether the demonstration shows what the server did for each request. */
  hasTrace: boolean
}

/** `path`: where browsers send it, seen from outside: the path of the public URL. */
export type Cookie = { name: string; path: string; isSecure: boolean; lifetimeMs: number; sameSite?: 'Strict' | 'Lax' }

/** `isReady` becomes false when the service drains. `askedAt`: when `/readyz` was last requested, by `performance.now()`. */
export type Readiness = { isReady: boolean; askedAt: number }
