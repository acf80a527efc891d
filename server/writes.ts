// Every write of the store by its name, which goes to the writer thread of SQLite. A write that is not here fails at its first call there.
import { recordAudit, recordRefusals, removeOldAudit } from './audit/audit.store.ts'
import { deliver, removeOldDeliveries } from './delivery/delivery.store.ts'
import {
  addChallenge,
  addFactor,
  confirmFactor,
  removeExpiredChallenges,
  removeFactor,
  replaceRecoveryCodes,
  spendChallenge,
  useChallenge,
  useFactor,
  useRecoveryCode,
} from './factors/factors.store.ts'
import { clearGuesses, forgetGuesses, removeOldGuesses, reserveGuess } from './guessing/guesses.store.ts'
import { markAllRead, markRead, markUnread, undoReadAll } from './inbox/inbox.store.ts'
import { addLink, removeExpiredLinks, resetPassword } from './links/links.store.ts'
import { addProducer, revokeProducer, rotateProducer, touchProducer } from './producers/producers.store.ts'
import {
  addProviderUser,
  linkProviderAccount,
  unlinkProviderAccount,
  useProviderAccount,
} from './providers/provider-accounts.store.ts'
import { resealFactors } from './sealing/sealed-texts.store.ts'
import {
  addSession,
  confirmSession,
  endSessions,
  removeStaleSessions,
  renewSession,
  signInOfSession,
  touchSession,
} from './sessions/sessions.store.ts'
import { endOtherSignIns, endSignIn, noteDevice } from './sessions/sign-ins.store.ts'
import { addSigningKey, dropSigningKey, resealSigningKeys, retireSigningKeys } from './tokens/signing-keys.store.ts'
import { revokeIssuedTokens, revokeTokens } from './tokens/tokens.store.ts'
import { deleteUser } from './users/erasure.store.ts'
import { putUsers } from './users/put-users.store.ts'
import { disableUser, resetFactors, setPassword } from './users/user-changes.store.ts'
import { addUser, enableUser, rehashPassword, updateUser } from './users/users.store.ts'

export const writes = {
  recordAudit,
  recordRefusals,
  removeOldAudit,
  addFactor,
  confirmFactor,
  removeFactor,
  useFactor,
  useRecoveryCode,
  replaceRecoveryCodes,
  addChallenge,
  useChallenge,
  spendChallenge,
  removeExpiredChallenges,
  reserveGuess,
  clearGuesses,
  forgetGuesses,
  removeOldGuesses,
  addLink,
  resetPassword,
  removeExpiredLinks,
  addProducer,
  revokeProducer,
  rotateProducer,
  touchProducer,
  useProviderAccount,
  addProviderUser,
  linkProviderAccount,
  unlinkProviderAccount,
  resealFactors,
  addSession,
  confirmSession,
  renewSession,
  touchSession,
  signInOfSession,
  endSessions,
  removeStaleSessions,
  endOtherSignIns,
  endSignIn,
  noteDevice,
  addSigningKey,
  dropSigningKey,
  retireSigningKeys,
  resealSigningKeys,
  revokeTokens,
  revokeIssuedTokens,
  deleteUser,
  putUsers,
  disableUser,
  setPassword,
  resetFactors,
  addUser,
  updateUser,
  rehashPassword,
  enableUser,
  markRead,
  markUnread,
  markAllRead,
  undoReadAll,
  deliver,
  removeOldDeliveries,
}
