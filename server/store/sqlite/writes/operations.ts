// Every write of the store on SQLite, by its name: each exported function of this folder.
import * as audit from './audit.ts'
import * as deliveries from './deliveries.ts'
import * as erasure from './erasure.ts'
import * as factors from './factors.ts'
import * as guesses from './guesses.ts'
import * as inbox from './inbox.ts'
import * as links from './links.ts'
import * as producers from './producers.ts'
import * as providerAccounts from './provider-accounts.ts'
import * as sealedTexts from './sealed-texts.ts'
import * as sessions from './sessions.ts'
import * as signIns from './sign-ins.ts'
import * as signingKeys from './signing-keys.ts'
import * as tokens from './tokens.ts'
import * as users from './users.ts'

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
