// How PostgreSQL finds the rows of each statement, also of those inside functions: by an index, and in one partition of the
// tables that belong to users. As in production, the plans are made without the values.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newDatabase } from '../../../tests/support/postgres.ts'
import {
  isRecorded,
  lastSettingsEntry,
  listAudit,
  recordAudit,
  recordLogged,
  recordOnce,
  removeOldAudit,
} from '../../audit/audit.store.ts'
import {
  beginKeyChange,
  continueKeyChange,
  findKeyChange,
  inboxesOf,
  isKeyChangeDone,
} from '../../delivery/by-key.store.ts'
import { deliver, findOutcome, removeOldDeliveries } from '../../delivery/delivery.store.ts'
import type { Delivery } from '../../delivery/delivery.ts'
import {
  addChallenge,
  addFactor,
  confirmFactor,
  factorsOf,
  factorsSealedOtherwise,
  findChallenge,
  offeredFactors,
  removeExpiredChallenges,
  removeFactor,
  replaceRecoveryCodes,
  resealFactors,
  useChallenge,
  useFactor,
  useRecoveryCode,
} from '../../factors/factors.store.ts'
import {
  clearGuesses,
  forgetGuesses,
  guessRefusals,
  removeOldGuesses,
  reserveGuess,
} from '../../guessing/guesses.store.ts'
import { explainNotification } from '../../inbox/explain.store.ts'
import { readCounts, readInbox, readNotification } from '../../inbox/inbox.store.ts'
import type { PageRequest } from '../../inbox/inbox-state.ts'
import { markAllRead, markRead, markUnread } from '../../inbox/marks.store.ts'
import { contentOf } from '../../inbox/notification-json.ts'
import { archive, archiveRead, markSeen, remove, snooze, unarchive, wake } from '../../inbox/places.store.ts'
import { changesSince } from '../../inbox/postgres/changes.ts'
import { readPage } from '../../inbox/postgres/pages.ts'
import { findDue, findOld, removeOldRemovals, removeOrWake, shrink, sizesAfter } from '../../inbox/retention.store.ts'
import { undo } from '../../inbox/undo.store.ts'
import { addLink, findLink, removeExpiredLinks, resetPassword } from '../../links/links.store.ts'
import { changeMutes, putCategory, readCategory, readPreferences } from '../../preferences/preferences.store.ts'
import {
  addProducer,
  findProducer,
  listProducers,
  revokeProducer,
  rotateProducer,
  touchProducer,
} from '../../producers/producers.store.ts'
import {
  addProviderUser,
  linkProviderAccount,
  providerAccounts,
  unlinkProviderAccount,
  useProviderAccount,
} from '../../providers/provider-accounts.store.ts'
import {
  addSession,
  endSessions,
  findSession,
  removeStaleSessions,
  signInOfSession,
  touchSession,
} from '../../sessions/sessions.store.ts'
import { endOtherSignIns, endSignIn, listSignIns, noteDevice } from '../../sessions/sign-ins.store.ts'
import { rotateSignIn } from '../../tokens/rotation.store.ts'
import { signingKey } from '../../tokens/signing-keys.contract.ts'
import {
  addSigningKey,
  dropSigningKey,
  resealSigningKeys,
  retireSigningKeys,
  signingKeys,
} from '../../tokens/signing-keys.store.ts'
import { revokeIssuedTokens, revokeTokens, tokenRevocations } from '../../tokens/tokens.store.ts'
import { addErasedKey, removeOldErased, resealErasedKey, sealedErasedKey } from '../../users/erased-ids.store.ts'
import { deleteUser } from '../../users/erasure.store.ts'
import { notificationsAfter, recordsOf } from '../../users/own-data/export.store.ts'
import { addTokenUser, putUsers } from '../../users/put-users.store.ts'
import { disableUser, resetFactors, setPassword } from '../../users/user-changes.store.ts'
import {
  addUser,
  enableUser,
  findCredentials,
  findUser,
  findUserByExternalId,
  findUserByUsername,
  findUsersByEmail,
  hasVerifiedEmail,
  listUsers,
  rehashPassword,
  updateUser,
} from '../../users/users.store.ts'
import type { AuditEntry } from '../events.ts'
import { operationNames } from '../testing/operations.ts'
import { ChangeSignals } from './change-signals/change-signals.ts'
import { Database } from './connection/connection.ts'
import { openPool } from './connection/pool.ts'
import { migrate } from './schema/migrate.ts'
import { storeOn } from './store.ts'

/** A call, and the tables that it reads: how, and (in brackets) by which columns of an index. */
type Path = { of: string; run: () => Promise<unknown>; reads: string[]; partitions?: number }

const auditEntry: AuditEntry = {
  id: 'a1',
  at: 1,
  event: 'sign-in',
  actor: 'user',
  userId: 'u1',
  address: null,
  userAgent: null,
  requestId: null,
  signInId: null,
  nameHash: null,
  detail: { variant: 'stateful' },
  count: 1,
}
const at = Date.parse('2026-01-01T00:00:00.000Z')
const user = 'user by key (id)'
const userByName = 'user by user_username_key (username)'
const userByExternalId = 'user by user_by_external_id (external_id, issuer)'
const session = 'session by key (user_id, family_hash)'
const old = { readBefore: '2026-01-01', unreadBefore: '2026-01-01' }
const ofKey = { key: 'k1', application: '' }
const producer = 'producer by key (id)'
const inbox = 'inbox by key (user_id)'
const notification = 'notification by key (user_id, seq)'
const byId = 'notification by notification_by_id (id, user_id)'
const unread = 'notification by notification_unread (user_id, seq)'
const readAlone = 'notification by notification_read (user_id, seq)'
const keyed = 'notification by notification_by_key (key, application, user_id)'
const changed = 'notification by notification_changed (user_id, changed_version)'
const mark = 'read_mark by key (user_id, version)'
const readMark = ['read_mark by read_mark_by_seq (user_id, through_seq) alone', mark]
const category = 'inbox_category by key (user_id, category)'
// A user has few sessions and categories, which are neighbours in the index.
const allCategories = 'many inbox_category by key (user_id)'
const mutes = 'many preference by key (user_id)'
const categoryMarks = 'category_read_mark by key (user_id) alone'
const allSessions = 'many session by key (user_id)'
const links = 'one_time_link by key (user_id)'
const linkByHash = 'one_time_link by one_time_link_by_hash (token_hash)'
const revocation = 'token_cutoff by key (user_id, sign_in_id)'
const expired = 'token_cutoff by token_cutoff_by_expiry (expires_at)'
// Also the key of the producer, which a delivery checks again.
/** The last check, that no recipient was erased, reads no row of a user. */
const recipients = [
  'category by key (application, name)',
  'preference by key (user_id, category)',
  'sorted',
  userByName,
  user,
  'user by key (id) alone',
  userByExternalId,
  producer,
]

const outcome = 'delivery by key (producer_id, idempotency_key)'
const factor = 'factor by key (user_id, id)'
const oneFactor = 'factor by key (user_id)'
const factors = 'many factor by key (user_id)'
const recoveryCodes = 'many recovery_code by key (user_id)'
const recoveryCode = 'recovery_code by key (user_id, code_hash)'
const challenge = 'challenge by key (user_id, hash)'
const challengeKey = { userId: 'u1', hash: 'x1' }
const newFactor = { id: 'f', kind: 'totp', label: 'l', sealedSecret: 's', createdAt: 1, confirmedAt: null } as const

// An entry whose user was erased is recorded without the user.
const audited = 'user by key (id) alone'
const auditOfUser = 'audit by key (user_id, id)'
const knownDevice = 'known_device by key (user_id, label, network)'
const anyDevice = 'known_device by key (user_id) alone'
const aliveSignIns = { sessions: { createdAfter: 0, lastSeenAfter: 0, lastSeenUntil: 9_000 }, tokensSince: 0 }
const seenDevice = { label: 'Firefox on Linux', network: '192.0.2.1', isKnown: false, keep: 50 }
const guess = 'guess_count by key (key)'
const guessLimits = {
  limits: [
    ...['user u1 password', 'new'].map((key) => ({ key, delaysMs: [0, 1], keptMs: 9 })),
    { key: 'address a', intervalMs: 1, burst: 1 },
  ],
  at,
}
const sessionKey = { userId: 'u1', familyHash: 'f1', secretHash: 'h1' }
const rotating = { userId: 'u1', signInId: 'sign-in 1', at: 1, confirmedAt: null }
const byCookie = { ...rotating, session: { familyHash: 'f1', secretHash: 'h1', newHash: 'h1', lastSeenAt: 1 } }
const byToken = { ...rotating, token: { generation: 0, signInGeneration: 0 } }
const deliveryTo = (change: Partial<Delivery>): Delivery => ({
  id: 'd',
  producerId: 'p1',
  idempotency: null,
  recipients: [{ to: { username: 'name1' }, notificationId: 'new' }],
  content: contentOf({ title: 'x' }),
  category: 'c1',
  createdAt: '2026-01-01T00:00:00.000Z',
  key: null,
  at: 1,
  ...change,
})
const allWays = [{ username: 'name1' }, { userId: 'u1' }, { externalId: 'e1' }].map((to, n) => ({
  to,
  notificationId: `new ${n}`,
}))
const several = [...allWays, { to: { userId: 'u2' }, notificationId: 'new 4' }]
const muting = ['u401', 'u402'].map((userId, n) => ({ to: { userId }, notificationId: `new ${n}` }))
const together = (...deliveries: Delivery[]) => Promise.all(deliveries.map((one) => store.write(deliver, one)))
const page = (request: PageRequest) => ({ userId: 'u1', ...request })
const numbered: PageRequest = { page: 3, limit: 20, status: 'all' }
const unreadNumbered: PageRequest = { page: 3, limit: 20, status: 'unread' }
const before: PageRequest = { before: 100, limit: 20, status: 'all' }
const unreadBefore: PageRequest = { before: 100, limit: 20, status: 'unread' }

const marked = 'notification by notification_marked_unread (user_id, unread_version) alone'
const markedSince = 'many notification by notification_marked_unread (user_id, unread_version)'
const markedInCategories = `many ${marked.replace(' alone', '')}`
const ofCategory = (isRead: 'read' | 'unread') =>
  `notification by notification_${isRead}_by_category (user_id, category, seq) alone`
const archiveMark = 'archive_mark by archive_mark_by_seq (user_id, through_seq, version) alone'
const anyMark = [
  'read_mark by read_mark_by_seq (user_id, through_seq)',
  'read_mark by key (user_id, version)',
  'category_read_mark by key (user_id, category, through_seq, version)',
  archiveMark,
]
const mine = { userId: 'u1', id: 'id1-18' }
const filtered = ['sorted', inbox, notification, ...readMark]
const counted = 'many inbox_category by key (user_id, category)'
const categories = ['c1', 'c2']
const providerAccount = 'provider_account by key (issuer, subject)'
const accountsOfUser = 'provider_account by provider_account_by_owner (owner_id)'
const accountKey = { issuer: 'https://id.example.org', subject: 's1' }
const newAccount = { issuer: 'https://id.example.org', subject: 'new', email: null, at: 1 }
const providerPaths: Path[] = [
  {
    of: 'useProviderAccount',
    run: () => store.write(useProviderAccount, { ...accountKey, at: 1 }),
    reads: [providerAccount, user],
  },
  {
    of: 'addProviderUser',
    run: () => store.write(addProviderUser, { ...newAccount, newId: 'new', displayName: null }),
    reads: [providerAccount, user],
  },
  {
    of: 'linkProviderAccount',
    run: () => store.write(linkProviderAccount, { ...newAccount, issuer: 'new', userId: 'u1' }),
    reads: [user, accountsOfUser],
  },
  {
    of: 'unlinkProviderAccount',
    run: () => store.write(unlinkProviderAccount, { userId: 'u1', issuer: accountKey.issuer, issuers: ['other'] }),
    reads: [user, accountsOfUser, 'sorted', oneFactor],
  },
  { of: 'providerAccounts', run: () => store.read(providerAccounts, 'u1'), reads: ['sorted', accountsOfUser] },
]

/** Filtered pages read the same before a sequence number and by page number. */
const filteredPaths: Path[] = [
  { filter: { status: 'all' as const, categories }, reads: [counted, ofCategory('read'), ofCategory('unread')] },
  { filter: { status: 'unread' as const, categories }, reads: [counted, ofCategory('unread'), markedInCategories] },
  {
    filter: { status: 'read' as const, categories },
    reads: [counted, ofCategory('read'), ofCategory('unread'), markedInCategories],
  },
  { filter: { status: 'read' as const }, reads: [`${readAlone} alone`, `${unread} alone`, marked] },
].flatMap(({ filter, reads }) =>
  [{ before: 100 }, { page: 3 }].map((place) => ({
    of: 'readPage',
    run: () => readPage(db, page({ ...filter, limit: 20, ...place })),
    reads: [...filtered, ...reads],
  })),
)

const moved = [inbox, byId, notification]
const movedAway = [
  ...[...moved, category, 'sorted', archiveMark, mark, 'read_mark by read_mark_by_seq (user_id, through_seq)'],
  'category_read_mark by key (user_id, category, through_seq, version)',
]

const paths: Path[] = [
  { of: 'findUser', run: () => store.read(findUser, 'u1'), reads: [user] },
  { of: 'findCredentials', run: () => store.read(findCredentials, 'name1'), reads: [userByName] },
  { of: 'findUserByUsername', run: () => store.read(findUserByUsername, 'name1'), reads: [userByName] },
  {
    of: 'findUserByExternalId',
    run: () => store.read(findUserByExternalId, { issuer: '', externalId: 'e1' }),
    reads: [userByExternalId],
  },
  {
    of: 'findUsersByEmail',
    run: () => store.read(findUsersByEmail, { email: 'a@example.org', limit: 5 }),
    reads: ['sorted', 'many user by user_by_email ()'],
  },
  {
    of: 'hasVerifiedEmail',
    run: () => store.read(hasVerifiedEmail),
    reads: ['user by user_by_verified_email () alone'],
  },
  { of: 'listUsers', run: () => store.read(listUsers, { after: 'u1', limit: 50 }), reads: [user] },
  {
    of: 'listUsers',
    run: () => store.read(listUsers, { after: 'u1', limit: 50, externalId: 'e1' }),
    reads: ['sorted', 'user by user_by_external_id (external_id)'],
  },
  {
    of: 'listUsers',
    run: () => store.read(listUsers, { after: 'u1', limit: 50, application: 'shop' }),
    reads: ['user by user_of_application (id)'],
  },
  {
    of: 'putUsers',
    run: () =>
      store.write(putUsers, {
        issuer: '',
        at: 1,
        users: ['e1', 'new'].map((externalId) => ({ newId: externalId, externalId })),
      }),
    reads: [`many ${userByExternalId}`, 'sorted'],
  },
  {
    of: 'addTokenUser',
    run: () => {
      const erased = { key: 'k', since: 0 }
      return store.write(addTokenUser, { id: 'new', externalId: 'new', at: 1, entry: auditEntry, erased })
    },
    reads: ['many erased_id by key (mac)', userByExternalId, audited],
  },
  {
    of: 'removeOldErased',
    run: () => store.write(removeOldErased, 1),
    reads: ['erased_id by erased_id_by_time (erased_at)'],
  },
  { of: 'sealedErasedKey', run: () => store.read(sealedErasedKey), reads: ['whole erased_key'] },
  { of: 'addErasedKey', run: () => store.write(addErasedKey, 'sealed'), reads: [] },
  {
    of: 'resealErasedKey',
    run: () => store.write(resealErasedKey, { from: 'x', to: 'y' }),
    reads: ['whole erased_key'],
  },
  {
    of: 'updateUser',
    run: () => store.write(updateUser, { userId: 'u1', username: 'new name', locale: 'de' }),
    reads: [user, userByName, allSessions, inbox],
  },
  { of: 'enableUser', run: () => store.write(enableUser, { userId: 'u1' }), reads: [user] },
  {
    of: 'rehashPassword',
    run: () => store.write(rehashPassword, { userId: 'u1', checkedPasswordHash: 'hash', passwordHash: 'new hash' }),
    reads: [user],
  },
  {
    of: 'addUser',
    run: () =>
      store.write(addUser, { id: 'new', username: 'new name', displayName: null, passwordHash: 'hash', createdAt: 1 }),
    reads: [user],
  },
  {
    of: 'disableUser',
    run: () => store.write(disableUser, { userId: 'u1', at: 1 }),
    reads: [user, allSessions, links, expired],
  },
  {
    // Rarely: it reads every outcome of a day, and all that the user has.
    of: 'deleteUser',
    run: () => store.write(deleteUser, { userId: 'u401', at: 1 }),
    reads: [
      user,
      inbox,
      allSessions,
      allCategories,
      'many notification by key (user_id)',
      'many category_read_mark by key (user_id)',
      'many read_mark by key (user_id)',
      'many archive_mark by archive_mark_by_seq (user_id)',
      'many removal by key (user_id)',
      'many preference by key (user_id)',
      'token_cutoff by key (user_id)',
      'guess_count by key (key)',
      'many known_device by key (user_id)',
      'one_time_link by key (user_id)',
      'many factor by key (user_id)',
      'many recovery_code by key (user_id)',
      'many challenge by key (user_id)',
      'many audit by key (user_id)',
      'provider_account by provider_account_by_owner (owner_id)',
      'whole delivery',
      expired,
    ],
  },
  {
    of: 'setPassword',
    run: () => store.write(setPassword, { userId: 'u1', passwordHash: 'hash', at: 1 }),
    reads: [user, allSessions, links, expired],
  },
  {
    of: 'setPassword',
    run: () =>
      store.write(setPassword, {
        userId: 'u1',
        passwordHash: 'hash',
        rotation: byToken,
        at: 1,
      }),
    reads: [user, allSessions, revocation, `${revocation} alone`, links, expired],
  },
  {
    of: 'listSignIns',
    run: () => store.read(listSignIns, { userId: 'u1', ownSignInId: 's1', alive: aliveSignIns, limit: 9 }),
    reads: ['sorted', user, allSessions, auditOfUser, `${revocation} alone`.replace(', sign_in_id', ''), revocation],
  },
  {
    of: 'endSignIn',
    run: () =>
      store.write(endSignIn, {
        userId: 'u1',
        signInId: 's1',
        alive: aliveSignIns,
        isOwn: false,
        disowned: seenDevice,
        at: 1,
      }),
    reads: ['sorted', user, allSessions, auditOfUser, `${revocation} alone`.replace(', sign_in_id', ''), revocation],
  },
  {
    of: 'noteDevice',
    run: () => store.write(noteDevice, { userId: 'u1', device: seenDevice, at: 1 }),
    reads: [user, knownDevice, anyDevice],
  },
  {
    of: 'endOtherSignIns',
    run: () => store.write(endOtherSignIns, { userId: 'u1', proof: byToken, at: 1 }),
    reads: [user, allSessions, revocation, `${revocation} alone`, expired],
  },
  {
    of: 'addLink',
    run: () =>
      store.write(addLink, {
        userId: 'u1',
        purpose: 'reset',
        tokenHash: 'hash',
        at: 1,
        expiresAt: 2,
        email: null,
      }),
    reads: ['sorted', 'one_time_link by key (user_id, purpose)', user],
  },
  { of: 'findLink', run: () => store.read(findLink, 'hash'), reads: [linkByHash, user] },
  {
    of: 'resetPassword',
    run: () =>
      store.write(resetPassword, {
        userId: 'u1',
        tokenHash: 'hash',
        passwordHash: 'hash',
        at: 1,
      }),
    reads: [user, linkByHash],
  },
  // Once an hour.
  { of: 'removeExpiredLinks', run: () => store.write(removeExpiredLinks, 1), reads: ['whole one_time_link'] },
  {
    of: 'addSession',
    run: () =>
      store.write(addSession, {
        userId: 'u1',
        familyHash: 'new',
        secretHash: 'new',
        checkedGeneration: 0,
        signInId: 's1',
        device: null,
        address: null,
        replaces: [sessionKey],
        at: 1,
      }),
    reads: [user, session],
  },
  { of: 'findSession', run: () => store.read(findSession, sessionKey), reads: [session, inbox] },
  {
    of: 'rotateSignIn',
    run: () => store.write(rotateSignIn, { rotation: byCookie }),
    reads: [user, session],
  },
  {
    of: 'rotateSignIn',
    run: () => store.write(rotateSignIn, { rotation: byToken }),
    reads: [user, allSessions, revocation, `${revocation} alone`, expired],
  },
  {
    of: 'addFactor',
    run: () => store.write(addFactor, { userId: 'u1', factor: newFactor, maxFactors: 9, recoveryCodeHashes: ['h'] }),
    reads: [user, factors],
  },
  { of: 'factorsOf', run: () => store.read(factorsOf, 'u1'), reads: [factors, recoveryCodes, 'sorted'] },
  { of: 'offeredFactors', run: () => store.read(offeredFactors, 'u1'), reads: [factors, recoveryCodes, 'sorted'] },
  {
    of: 'confirmFactor',
    run: () => store.write(confirmFactor, { userId: 'u1', factorId: 'f1', step: 1, at: 1, recoveryCodeHashes: ['h'] }),
    reads: [user, factor, oneFactor],
  },
  {
    of: 'useFactor',
    run: () =>
      store.write(useFactor, { userId: 'u1', factorId: 'f5001', at: 0, signCount: 9, challenge: challengeKey }),
    reads: [user, challenge, factor],
  },
  {
    of: 'useRecoveryCode',
    run: () => store.write(useRecoveryCode, { userId: 'u1', codeHash: 'h', at: 1 }),
    reads: [user, recoveryCode],
  },
  {
    of: 'replaceRecoveryCodes',
    run: () => store.write(replaceRecoveryCodes, { userId: 'u1', recoveryCodeHashes: ['h'], at: 1 }),
    reads: [user, oneFactor, recoveryCodes],
  },
  {
    of: 'removeFactor',
    run: () => store.write(removeFactor, { userId: 'u1', factorId: 'f5001' }),
    reads: [user, factor, oneFactor, 'provider_account by provider_account_by_owner (owner_id) alone'],
  },
  {
    of: 'resetFactors',
    run: () => store.write(resetFactors, { userId: 'u1', at: 1 }),
    reads: [user, factors, recoveryCodes, 'many challenge by key (user_id)', allSessions, expired],
  },
  {
    of: 'addChallenge',
    run: () => store.write(addChallenge, { userId: 'u1', hash: 'new', purpose: 'p', data: '{}', expiresAt: 9 }),
    reads: [user],
  },
  { of: 'findChallenge', run: () => store.read(findChallenge, { ...challengeKey, at: 1 }), reads: [challenge] },
  { of: 'useChallenge', run: () => store.write(useChallenge, { ...challengeKey, at: 1 }), reads: [challenge] },
  {
    of: 'removeExpiredChallenges',
    run: () => store.write(removeExpiredChallenges, 1),
    reads: ['challenge by challenge_by_expiry (expires_at)'],
  },
  { of: 'touchSession', run: () => store.write(touchSession, { ...sessionKey, at: 1 }), reads: [session] },
  {
    of: 'endSessions',
    run: () => store.write(endSessions, { keys: [sessionKey], at: 1 }),
    reads: [session],
  },
  {
    of: 'signInOfSession',
    run: () => store.write(signInOfSession, sessionKey),
    reads: [session, user],
  },
  {
    // Once an hour.
    of: 'removeStaleSessions',
    run: () => store.write(removeStaleSessions, { createdAfter: 1, lastSeenAfter: 1, lastSeenUntil: 1e13 }),
    reads: ['whole session'],
    partitions: 4,
  },
  {
    of: 'revokeTokens',
    run: () => store.write(revokeTokens, { userId: 'u1', signInId: 's1', at: 1, expiresAt: 2 }),
    reads: [allSessions, expired],
  },
  {
    of: 'revokeIssuedTokens',
    run: () => store.write(revokeIssuedTokens, { userId: 'u1', at: 1 }),
    reads: [user, allSessions, expired],
  },
  {
    of: 'tokenRevocations',
    run: () => store.read(tokenRevocations, 4_990),
    reads: ['token_cutoff by token_cutoff_by_expiry (expires_at)'],
  },
  // A handful of keys.
  { of: 'signingKeys', run: () => store.read(signingKeys), reads: ['sorted', 'whole signing_key'] },
  {
    of: 'addSigningKey',
    run: () => store.write(addSigningKey, { key: signingKey('kid'), after: null }),
    reads: ['sorted', 'whole signing_key', 'whole erased_key', 'whole kysely_migration'],
  },
  {
    of: 'dropSigningKey',
    run: () => store.write(dropSigningKey, { kid: 'kid', key: signingKey('kid2') }),
    reads: ['whole signing_key'],
  },
  {
    of: 'retireSigningKeys',
    run: () => store.write(retireSigningKeys, { kids: ['kid'], at: 1 }),
    reads: ['whole signing_key'],
  },
  // By a command: the factors of every user that follow one.
  {
    of: 'factorsSealedOtherwise',
    run: () => store.read(factorsSealedOtherwise, { prefix: 'p', after: { userId: '', id: '' }, limit: 9 }),
    reads: ['sorted', 'many factor by key ()'],
    partitions: 4,
  },
  {
    of: 'resealFactors',
    run: () => store.write(resealFactors, { factors: [{ userId: 'u1', id: 'f1', from: 'a', to: 'b' }] }),
    reads: ['factor by key (user_id, id)'],
  },
  {
    of: 'resealSigningKeys',
    run: () => store.write(resealSigningKeys, { keys: [{ kid: 'kid', from: 'sealed', to: 'sealed' }] }),
    reads: ['whole signing_key'],
  },
  {
    of: 'addProducer',
    run: () =>
      store.write(addProducer, {
        id: 'new',
        name: 'n',
        secretHash: 'h',
        scopes: ['send'],
        createdAt: 1,
        expiresAt: null,
      }),
    reads: ['producer by producer_number_key () alone'],
  },
  { of: 'findProducer', run: () => store.read(findProducer, 'p1'), reads: [producer] },
  { of: 'guessRefusals', run: () => store.read(guessRefusals, guessLimits), reads: [guess] },
  { of: 'reserveGuess', run: () => store.write(reserveGuess, guessLimits), reads: [guess] },
  {
    of: 'clearGuesses',
    run: () => store.write(clearGuesses, guessLimits),
    reads: [guess],
  },
  { of: 'forgetGuesses', run: () => store.write(forgetGuesses, { prefix: 'user u1 ' }), reads: [guess] },
  {
    of: 'removeOldGuesses',
    run: () => store.write(removeOldGuesses, 3),
    reads: [guess, 'guess_count by guess_count_by_expiry (expires_at)'],
  },
  {
    of: 'isRecorded',
    run: () => store.read(isRecorded, { userId: 'u1', signInId: 'a000001', event: 'e' }),
    reads: [auditOfUser],
  },
  {
    of: 'recordOnce',
    run: () => store.write(recordOnce, { ...auditEntry, userId: 'u1', signInId: 'a000001' }),
    reads: [user, auditOfUser, audited],
  },
  {
    of: 'recordAudit',
    run: () => store.write(recordAudit, [auditEntry]),
    reads: [audited],
  },
  {
    of: 'recordLogged',
    run: () => store.write(recordLogged, [auditEntry]),
    reads: [audited],
  },
  {
    of: 'listAudit',
    run: () => store.read(listAudit, { limit: 20, before: 'a000100' }),
    reads: ['audit by audit_by_id (id)'],
  },
  {
    of: 'listAudit',
    run: () => store.read(listAudit, { userId: 'u1', limit: 20 }),
    reads: ['audit by key (user_id, id)'],
  },
  {
    of: 'lastSettingsEntry',
    run: () => store.read(lastSettingsEntry),
    reads: ['audit by audit_of_settings ()'],
  },
  {
    of: 'removeOldAudit',
    run: () => store.write(removeOldAudit, 0xb00000000000),
    reads: ['audit by audit_by_id (id)', 'audit by audit_by_id (id) alone'],
  },
  // For an operator at the command line.
  { of: 'listProducers', run: () => store.read(listProducers), reads: ['sorted', 'whole producer'] },
  { of: 'revokeProducer', run: () => store.write(revokeProducer, { producerId: 'p1', at: 1 }), reads: [producer] },
  {
    of: 'rotateProducer',
    run: () => store.write(rotateProducer, { producerId: 'p1', secretHash: 'h2', previousUntil: 9 }),
    reads: [producer],
  },
  { of: 'touchProducer', run: () => store.write(touchProducer, { producerId: 'p1', at: 1 }), reads: [producer] },
  { of: 'check', run: () => db.check(), reads: [] },
  { of: 'readInbox', run: () => store.read(readInbox, 'u1'), reads: [inbox] },
  {
    of: 'readPage',
    run: () => readPage(db, page(numbered)),
    reads: [...filtered, `${readAlone} alone`, `${unread} alone`],
  },
  { of: 'readPage', run: () => readPage(db, page(before)), reads: [inbox, notification, ...readMark] },
  {
    of: 'readPage',
    run: () => readPage(db, page(unreadNumbered)),
    reads: ['sorted', inbox, `${unread} alone`, marked, notification, ...readMark],
  },
  {
    of: 'readPage',
    run: () => readPage(db, page(unreadBefore)),
    reads: ['sorted', inbox, `${unread} alone`, marked, notification, ...readMark],
  },
  ...filteredPaths,
  ...providerPaths,
  {
    of: 'explainNotification',
    run: () => store.read(explainNotification, { userId: 'u1', id: 'id1-9' }),
    reads: ['sorted', byId, inbox, 'producer by producer_number_key (number)', ...anyMark],
  },
  {
    of: 'recordsOf',
    run: () => store.read(recordsOf, 'u1'),
    reads: [
      'sorted',
      'provider_account by provider_account_by_owner (owner_id)',
      ...['factor', 'known_device', 'preference', 'recovery_code', 'session'].map(
        (table) => `many ${table} by key (user_id)`,
      ),
    ],
  },
  {
    of: 'notificationsAfter',
    run: () => store.read(notificationsAfter, { userId: 'u1', seq: 1 }),
    reads: ['sorted', inbox, 'notification by key (user_id, seq)', ...anyMark],
  },
  {
    of: 'readNotification',
    run: () => store.read(readNotification, { userId: 'u1', id: 'id1-9' }),
    reads: ['sorted', inbox, byId, ...anyMark],
  },
  { of: 'readCounts', run: () => store.read(readCounts, 'u1'), reads: ['sorted', inbox, allCategories] },
  {
    of: 'changesSince',
    run: () => changesSince(db, { userId: 'u1', version: 100, limit: 49, maxBehind: 10_000 }),
    reads: [
      inbox,
      notification,
      changed,
      ...readMark,
      archiveMark,
      'category_read_mark by key (user_id, category, version) alone',
      'archive_mark by key (user_id, version)',
      'removal by key (user_id, version)',
    ],
  },
  {
    of: 'markRead',
    run: () => Promise.all(['id1-190', 'id1-191'].map((id) => store.write(markRead, { userId: 'u1', id, at }))),
    reads: ['sorted', inbox, byId, notification, category],
  },
  {
    of: 'markAllRead',
    run: () => store.write(markAllRead, { userId: 'u1', throughId: null, at }),
    reads: ['sorted', inbox, allCategories],
  },
  {
    of: 'markAllRead',
    run: () => store.write(markAllRead, { userId: 'u1', throughId: 'id1-150', at }),
    reads: ['sorted', inbox, byId, 'many notification by key (user_id, seq)', allCategories, category, categoryMarks],
  },
  {
    // Up to notifications that were marked as unread.
    of: 'markAllRead',
    run: () => store.write(markAllRead, { userId: 'u1', throughId: 'id1-15', at }),
    reads: [
      'sorted',
      inbox,
      byId,
      markedSince,
      allCategories,
      category,
      categoryMarks,
      'many category_read_mark by key (user_id)',
    ],
  },
  {
    of: 'markUnread',
    run: () => store.write(markUnread, { userId: 'u1', id: 'id1-18' }),
    reads: ['sorted', inbox, byId, mark, notification, category],
  },
  {
    of: 'undo',
    run: () => store.write(undo, { userId: 'u1', at }),
    reads: [inbox, mark, markedSince, allCategories, categoryMarks],
  },
  { of: 'archive', run: () => store.write(archive, { ...mine, at }), reads: movedAway },
  { of: 'snooze', run: () => store.write(snooze, { ...mine, until: at + 1, at }), reads: movedAway },
  { of: 'unarchive', run: () => store.write(unarchive, { ...mine, id: 'id1-60' }), reads: moved },
  { of: 'wake', run: () => store.write(wake, { ...mine, id: 'id1-61', at }), reads: moved },
  {
    of: 'remove',
    run: () => store.write(remove, { ...mine, at }),
    reads: [
      ...[inbox, category, mark, 'archive_mark by key (user_id, version)', 'many notification by key (user_id, seq)'],
      'notification by notification_by_id (id, user_id)',
    ],
  },
  {
    of: 'archiveRead',
    run: () => store.write(archiveRead, { userId: 'u1', at }),
    reads: [
      ...[inbox, 'many category_read_mark by key (user_id)', allCategories, markedSince, `many ${unread}`],
      'notification by notification_unread_by_category (user_id, category, seq)',
      'notification by notification_kept_unread (user_id, kept_version, seq)',
      'notification by notification_kept_unread (user_id, kept_version, seq) alone',
      'notification by notification_of_service (user_id, created_at)',
      // What the archive-read before the last one kept, and the last one archived.
      ...['sorted', archiveMark, mark, 'read_mark by read_mark_by_seq (user_id, through_seq)'],
      'category_read_mark by key (user_id, category, through_seq, version)',
      ...['read', 'unread'].map((kept) => `many notification by notification_kept_${kept} (user_id, kept_version)`),
    ],
  },
  {
    of: 'markSeen',
    run: () => store.write(markSeen, { userId: 'u1', throughSeq: 190 }),
    reads: [inbox, 'many notification by key (user_id, seq)'],
  },
  {
    of: 'deliver',
    run: () => store.write(deliver, deliveryTo({ idempotency: { key: 'new', bodyHash: 'h' }, secretHash: 'h' })),
    reads: recipients,
  },
  {
    of: 'deliver',
    run: () => together(deliveryTo({ secretHash: 'h' }), deliveryTo({ recipients: allWays, secretHash: 'h' })),
    reads: recipients,
  },
  {
    of: 'deliver',
    run: () => together(...['new', 'k1'].map((key) => deliveryTo({ idempotency: { key, bodyHash: 'h' } }))),
    reads: [...recipients, outcome],
  },
  {
    of: 'deliver',
    run: () =>
      store.write(
        deliver,
        deliveryTo({ recipients: [{ to: { externalId: 'new' }, notificationId: 'n', newUserId: 'new' }] }),
      ),
    reads: recipients,
  },
  {
    of: 'deliver',
    run: () => store.write(deliver, deliveryTo({ idempotency: { key: 'k1', bodyHash: 'h' } })),
    reads: [...recipients, outcome],
  },
  {
    of: 'deliver',
    run: () =>
      store.write(
        deliver,
        deliveryTo({ key: 'none', recipients: several, idempotency: { key: 'other', bodyHash: 'h' } }),
      ),
    reads: [producer, userByName, user, 'user by key (id) alone', userByExternalId, inbox, `many ${keyed}`, outcome],
    partitions: 4,
  },
  {
    of: 'deliver',
    run: () => store.write(deliver, deliveryTo({ recipients: muting })),
    reads: [...recipients, inbox, `many ${category}`, 'many preference by key (user_id, category)', notification],
    partitions: 4,
  },
  {
    of: 'deliver',
    run: () => store.write(deliver, deliveryTo({ key: 'k10' })),
    reads: [producer, userByName, 'user by key (id) alone', inbox, category, keyed, notification, mark],
  },
  {
    of: 'findDue',
    run: () => store.read(findDue, at),
    reads: ['notification by notification_by_expiry (expires_at)', 'notification by notification_to_wake (away_at)'],
    partitions: 4,
  },
  {
    of: 'findOld',
    run: () => store.read(findOld, { before: at, after: { id: '', userId: '' }, retention: old }),
    partitions: 4,
    reads: ['inbox by key (user_id)', 'notification by notification_by_id (id)'],
  },
  { of: 'sizesAfter', run: () => store.read(sizesAfter, ''), partitions: 4, reads: ['inbox by key (user_id)'] },
  {
    of: 'removeOrWake',
    run: () => store.write(removeOrWake, { due: [{ userId: 'u1', seq: 1 }], at, retention: old }),
    partitions: 4,
    reads: ['sorted', 'inbox by key (user_id)', 'notification by key (user_id, seq)'],
  },
  {
    of: 'shrink',
    run: () => store.write(shrink, { userId: 'u1', max: 1, at }),
    partitions: 4,
    reads: [
      'sorted',
      'archive_mark by key (user_id, version)',
      'category_read_mark by key (user_id, category, through_seq, version) alone',
      'inbox by key (user_id)',
      'inbox_category by key (user_id, category)',
      'many notification by key (user_id, seq)',
      'notification by key (user_id)',
      'notification by key (user_id) alone',
      'notification by key (user_id, seq)',
      'notification by notification_of_service (user_id, created_at)',
      'read_mark by key (user_id, version)',
    ],
  },
  {
    of: 'removeOldRemovals',
    // By then, all rows that the filling made are old.
    run: () => store.write(removeOldRemovals, Date.UTC(2026, 1)),
    partitions: 4,
    reads: ['inbox by key (user_id)', 'many removal by key (user_id, version)', 'removal by removal_by_time (at)'],
  },
  {
    of: 'inboxesOf',
    run: () => store.read(inboxesOf, ofKey),
    partitions: 4,
    reads: ['many notification by notification_by_key (key, application)'],
  },
  { of: 'findKeyChange', run: () => store.read(findKeyChange), reads: ['sorted', 'whole key_change'] },
  { of: 'isKeyChangeDone', run: () => store.read(isKeyChangeDone, 'c1'), reads: ['whole key_change'] },
  {
    of: 'beginKeyChange',
    run: () =>
      store.write(beginKeyChange, {
        ...ofKey,
        id: 'c2',
        kind: 'delete',
        given: null,
        producerId: 'p1',
        at,
        inboxes: 1,
      }),
    partitions: 4,
    reads: [
      'inbox by key (user_id)',
      'many notification by notification_by_key (key, application, user_id)',
      'notification by notification_by_key (key, application, user_id) alone',
      'producer by key (id)',
      'whole key_change',
    ],
  },
  { of: 'continueKeyChange', run: () => store.write(continueKeyChange, ofKey), reads: ['sorted', 'whole key_change'] },
  {
    of: 'readCategory',
    run: () => store.read(readCategory, { application: 'app1', name: 'c1' }),
    reads: ['category by key (application, name)'],
  },
  {
    of: 'putCategory',
    run: () =>
      store.write(putCategory, { application: 'app1', name: 'c1', label: '', description: null, mandatory: 0 }),
    reads: ['category by key (application) alone'],
  },
  {
    of: 'readPreferences',
    run: () => store.read(readPreferences, { userId: 'u401', now: '2026-01-01T00:00:00.000Z' }),
    reads: [user, allCategories, mutes, 'many category by key (application)', 'sorted'],
  },
  {
    of: 'changeMutes',
    run: () => store.write(changeMutes, { userId: 'u401', mutes: [{ category: 'c1', mutedUntil: null }], now: '2026' }),
    reads: [user, inbox, mutes],
  },
  {
    of: 'findOutcome',
    run: () => store.read(findOutcome, { producerId: 'p1', key: 'k1', bodyHash: 'h' }),
    reads: [outcome],
  },
  {
    of: 'removeOldDeliveries',
    run: () => store.write(removeOldDeliveries, 3),
    reads: ['delivery by delivery_by_time (at)', 'delivery by delivery_by_time (at) alone'],
  },
]

const { url, drop } = await newDatabase({ isBare: true })
// A migration needs more than one connection.
const migrating = openPool(url)
await migrate(migrating, { partitions: 4 })
await migrating.end()
// One connection, so that each call is made on the one that reports its plans. Its plans are made without the values.
const client = openPool(url, { timeoutMs: 600_000 })
client.options.max = 1
let plans: Step[] = []
client.on('connect', (connection) => {
  connection.on('notice', ({ message = '' }) => {
    const start = message.indexOf('{')
    if (start >= 0) plans.push(JSON.parse(message.slice(start)).Plan)
  })
  // The writes run in the transaction of the test, which takes them back.
  const all = connection as unknown as { query(...args: unknown[]): unknown }
  const send = all.query
  all.query = (...args) => {
    const { text } = args[0] as { text?: string }
    return text === 'begin' || text === 'commit' ? Promise.resolve({ command: 'COMMIT' }) : send.apply(all, args)
  }
})
const db = new Database(client, new ChangeSignals(client, url))
const store = storeOn(db)
after(async () => {
  await db.close()
  await drop()
})

// 5,000 users with a session, 400 of them with many notifications; every table has so many rows that no plan reads all of it.
await client.query(`
  insert into "user" (id, username, password_hash, created_at, external_id)
    select 'u' || n, 'name' || n, 'hash', n, 'e' || n from generate_series(1, 20000) n;
  insert into session (user_id, family_hash, secret_hash, username, created_at, last_seen_at, sign_in_id, has_tokens)
    select 'u' || n % 5000, 'f' || n, 'h' || n, 'name', n, n, 'sign-in ' || n, 0 from generate_series(1, 20000) n;
  insert into inbox select 'u' || n, 200, 1, 200, 200, 150, 40 from generate_series(1, 400) n;
  insert into inbox select 'u' || n, 1, 1, 0, 0, 0, 0 from generate_series(401, 8000) n;
  insert into inbox_category select 'u' || n % 2000, 'c' || n / 2000, 9, 9 from generate_series(0, 19999) n;
  insert into notification (user_id, seq, id, version, title, category, key, created_at, read_at)
    select 'u' || u, s, 'id' || u || '-' || s, s, 'x', 'c1', case when s % 10 = 0 then 'k' || s end,
      '2026-01-01T00:00:00.000Z', case when s % 20 = 0 then '2026-01-01T00:00:00.000Z' end
    from generate_series(1, 400) u, generate_series(1, 200) s;
  update notification set unread_version = 100 + seq where seq % 7 = 0 and read_at is null;
  update notification set away = 'archived', away_at = '2026-01-01T00:00:00.000Z', read_at = '2026-01-01T00:00:00.000Z' where id = 'id1-60';
  update notification set away = 'snoozed', away_at = '2026-01-01T00:00:00.000Z', read_at = '2026-01-01T00:00:00.000Z' where id = 'id1-61';
  update inbox set undo_version = 20, read_version = 20, marked_unread = 5;
  insert into read_mark select 'u' || u, s, s, '2026-01-01T00:00:00.000Z', 0, 0, 1 from generate_series(1, 1000) u, generate_series(1, 20) s;
  insert into category_read_mark select 'u' || u, 'c' || s, s, s, '2026-01-01T00:00:00.000Z' from generate_series(401, 2400) u, generate_series(2, 11) s;
  insert into archive_mark select 'u' || u, s, s, '2026-01-01T00:00:00.000Z', 0, 0, 1, 0 from generate_series(401, 1400) u, generate_series(1, 20) s;
  insert into removal select 'u' || u, s, 'r' || s, '2026-01-01T00:00:00.000Z', 'deleted' from generate_series(1, 1000) u, generate_series(1, 20) s;
  update inbox set mutes = 1 where user_id in ('u401', 'u402');
  insert into preference select 'u' || u, 'c' || s, 'forever' from generate_series(401, 2400) u, generate_series(1, 10) s;
  insert into category select 'app' || n % 2000, 'c' || n, '', null, 0 from generate_series(1, 20000) n;
  insert into delivery select 'p1', 'k' || n, 'h', '{}', n from generate_series(1, 20000) n;
  insert into producer (id, name, secret_hash, scopes, created_at, application, number)
    select 'p' || n, 'n', 'h', 'send', n, '', n from generate_series(1, 20000) n;
  insert into guess_count select 'user u' || n || ' password', 6, n, n from generate_series(1, 20000) n;
  insert into token_cutoff select 'u' || n, '', n, 0 from generate_series(1, 5000) n;
  insert into known_device select 'u' || n % 5000, 'Firefox on Linux', 'network' || n, n, n from generate_series(1, 20000) n;
  insert into guess_count select 'g' || n, 1, n, n from generate_series(1, 20000) n;
  insert into one_time_link select 'u' || n, 'reset', 't' || n, n, n from generate_series(1, 20000) n;
  insert into factor (user_id, id, kind, label, credential_id, created_at, confirmed_at, sign_count)
    select 'u' || n % 5000, 'f' || n, 'passkey', 'key', 'c' || n, n, case when n > 5000 then n end, 1 from generate_series(1, 20000) n;
  insert into recovery_code select 'u' || n % 5000, 'r' || n, n from generate_series(1, 20000) n;
  insert into challenge select 'u' || n % 5000, 'x' || n, 'second-factor', '{}', n from generate_series(1, 20000) n;
  insert into erased_id select 'm' || n, n from generate_series(1, 20000) n;
  insert into provider_account select 'https://id.example.org', 's' || n, 'u' || n, null, n, n from generate_series(1, 20000) n;
  insert into audit (user_id, id, at, event, actor, count)
    select 'u' || n % 5000, 'a' || lpad(n::text, 6, '0'), n, 'sign-in', 'user', 1 from generate_series(1, 20000) n`)
await client.query('vacuum analyze')

/** The partitioned table or index of each partition. */
const wholes = new Map(
  (
    await client.query(`
      select part.relname as part, whole.relname as whole from pg_inherits
      join pg_class part on part.oid = inhrelid join pg_class whole on whole.oid = inhparent`)
  ).rows.map(({ part, whole }) => [part as string, whole as string]),
)

/** The table of each index. */
const tables = new Map(
  (await client.query('select indexname, tablename from pg_indexes')).rows.map(({ indexname, tablename }) => [
    indexname as string,
    wholes.get(tablename) ?? (tablename as string),
  ]),
)

// The server reports the plan of each statement that it ran, with the steps that it took, as a notice.
await client.query(`
  load 'auto_explain';
  set auto_explain.log_min_duration = 0;
  set auto_explain.log_nested_statements = on;
  set auto_explain.log_analyze = on;
  set auto_explain.log_timing = off;
  set auto_explain.log_format = json;
  set auto_explain.log_level = notice`)

type Step = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  'Actual Loops': number
  Plans?: Step[]
}

/** Parts of operations of several files. */
const shared = new Set([
  ...['note', 'revoke', 'endProofs', 'isOutdated', 'changePassword', 'changeLanguage'],
  ...['isUnreadNow', 'readByLastReadAll', 'leaveUndo', 'keepReadState', 'countMade'],
  ...['lockInboxes', 'archiveFound', 'makeNewest', 'removeAll', 'replace', 'hasPasswordOrPasskey'],
  ...['findErased', 'forgetErased', 'addUnlessErased'],
  ...['isHeld', 'findHeld', 'userWith', 'canSignIn', 'removeLinksTo'],
  // It runs no statement.
  'announce',
  // A command reads every notification, and a table has one row.
  ...['countOld', 'seeTime', 'newestRowAt'],
])

test('the plan of every operation is checked', () => {
  const checked = new Set(paths.map(({ of }) => of))
  assert.deepEqual(
    operationNames('Read', 'Write').filter((name) => !shared.has(name) && !checked.has(name)),
    [],
  )
})

for (const { of: name, run, reads, partitions = 1 } of paths)
  test(`${name} reads ${reads.join(', ') || 'no table'}`, async () => {
    plans = []
    await client.query('begin')
    await run()
    await client.query('rollback')
    const steps = plans.flatMap(stepsOf)
    assert.ok(plans.length > 0, 'the server reported no plan')
    assert.deepEqual([...new Set(steps.flatMap((step) => inWords(step) ?? []))].sort(), reads.toSorted())
    const touched = steps.filter((step) => step['Actual Loops'] > 0 && wholes.has(step['Relation Name'] ?? ''))
    const numbers = new Set(touched.map((step) => step['Relation Name']?.replace(/.*_/, '')))
    assert.ok(numbers.size <= partitions, `${numbers.size} partitions are touched`)
  })

function stepsOf(step: Step): Step[] {
  return [step, ...(step.Plans ?? []).flatMap(stepsOf)]
}

/** A step of a plan in words, or undefined if it reads no table. In brackets: the columns that bound the range of the index. */
function inWords(step: Step): string | undefined {
  const kind = step['Node Type']
  const part = step['Relation Name'] ?? ''
  // Each node that writes counts there, at most once a second (change-signals/history.ts).
  if (part === 'history') return undefined
  const table = wholes.get(part) ?? part
  const index = step['Index Name'] ?? ''
  const bounds = Array.from((step['Index Cond'] ?? '').matchAll(/\((\w+) (?:[<>=]+|IS) /g), ([, column]) => column)
  const key = `${(wholes.get(index) ?? index).replace(/.*_pkey$/, 'key')} (${[...new Set(bounds)].join(', ')})`
  if (kind === 'Index Scan') return `${table} by ${key}`
  if (kind === 'Index Only Scan') return `${table} by ${key} alone`
  if (kind === 'Bitmap Index Scan') return `many ${tables.get(index)} by ${key}`
  if (kind === 'Tid Scan') return `${table} by its place`
  if (kind === 'Seq Scan') return `whole ${table}`
  return /Sort$/.test(kind) ? 'sorted' : undefined
}
