// Every write of the store by its name, which goes to the writer thread of SQLite in place of the function: the exported functions of the
// rooms' files *.store.ts. A write of a file that is not here fails there at its first call.
import * as audit from './audit/audit.store.ts'
import * as byKey from './delivery/by-key.store.ts'
import * as deliveries from './delivery/delivery.store.ts'
import * as factors from './factors/factors.store.ts'
import * as guesses from './guessing/guesses.store.ts'
import * as marks from './inbox/marks.store.ts'
import * as places from './inbox/places.store.ts'
import * as retention from './inbox/retention.store.ts'
import * as undoing from './inbox/undo.store.ts'
import * as links from './links/links.store.ts'
import * as preferences from './preferences/preferences.store.ts'
import * as producers from './producers/producers.store.ts'
import * as providerAccounts from './providers/provider-accounts.store.ts'
import * as sessions from './sessions/sessions.store.ts'
import * as signIns from './sessions/sign-ins.store.ts'
import type { WriteOperation, Writes } from './store/operations.ts'
import * as signingKeys from './tokens/signing-keys.store.ts'
import * as tokens from './tokens/tokens.store.ts'
import * as erasure from './users/erasure.store.ts'
import * as putUsers from './users/put-users.store.ts'
import * as userChanges from './users/user-changes.store.ts'
import * as users from './users/users.store.ts'

const files = {
  audit,
  byKey,
  deliveries,
  factors,
  guesses,
  marks,
  places,
  retention,
  undoing,
  links,
  preferences,
  producers,
  providerAccounts,
  sessions,
  signIns,
  signingKeys,
  tokens,
  erasure,
  putUsers,
  userChanges,
  users,
}

export const writes: Writes = Object.fromEntries(
  Object.entries(files).flatMap(([file, exports]) =>
    Object.entries(exports).map(([name, write]) => [`${file}.${name}`, write as WriteOperation<never, unknown>]),
  ),
)
