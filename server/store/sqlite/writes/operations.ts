// Every write of the store on SQLite, by its name: each exported function of this folder.

import * as deliveries from './deliveries.ts'
import * as erasure from './erasure.ts'
import * as inbox from './inbox.ts'
import * as audit from './sign-in/audit.ts'
import * as factors from './sign-in/factors.ts'
import * as guesses from './sign-in/guesses.ts'
import * as links from './sign-in/links.ts'
import * as producers from './sign-in/producers.ts'
import * as providerAccounts from './sign-in/provider-accounts.ts'
import * as sealedTexts from './sign-in/sealed-texts.ts'
import * as sessions from './sign-in/sessions.ts'
import * as signIns from './sign-in/sign-ins.ts'
import * as signingKeys from './sign-in/signing-keys.ts'
import * as tokens from './sign-in/tokens.ts'
import * as users from './sign-in/users.ts'

export const writes = {
  ...users,
  ...erasure,
  ...sessions,
  ...signIns,
  ...tokens,
  ...signingKeys,
  ...sealedTexts,
  ...producers,
  ...inbox,
  ...deliveries,
  ...audit,
  ...factors,
  ...providerAccounts,
  ...links,
  ...guesses,
}
