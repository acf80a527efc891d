// The promises of store.ts for every engine. Those of one room are in its *.contract.ts; here are
// those of several rooms. docs/architecture.md has the laws, docs/guarantees.md ids such as S5.
import { describe } from 'node:test'
import { auditPromises } from '../audit/audit.contract.ts'
import { backupPromises } from '../backups/backups.contract.ts'
import { byKeyPromises } from '../delivery/by-key.contract.ts'
import { contentPromises } from '../delivery/content.contract.ts'
import { deliveryPromises } from '../delivery/delivery.contract.ts'
import { recipientPromises } from '../delivery/recipients.contract.ts'
import { withdrawPromises } from '../delivery/withdraw.contract.ts'
import { factorPromises } from '../factors/factors.contract.ts'
import { sealedTextPromises } from '../factors/sealed-texts.contract.ts'
import { guessPromises } from '../guessing/guesses.contract.ts'
import { bulkStepPromises } from '../inbox/contract/bulk-steps.contract.ts'
import { changePromises } from '../inbox/contract/changes.contract.ts'
import { deepPagePromises } from '../inbox/contract/deep-pages.contract.ts'
import { explainPromises } from '../inbox/contract/explain.contract.ts'
import { filterPromises } from '../inbox/contract/filters.contract.ts'
import { markReadPromises } from '../inbox/contract/mark-read.contract.ts'
import { placePromises } from '../inbox/contract/places.contract.ts'
import { retentionPromises } from '../inbox/contract/retention.contract.ts'
import { securityNoticePromises } from '../inbox/contract/security-notices.contract.ts'
import { undoPromises } from '../inbox/contract/undo.contract.ts'
import { linkPromises } from '../links/links.contract.ts'
import { hourlyPromises } from '../metrics/hourly.contract.ts'
import { nodePromises } from '../metrics/nodes.contract.ts'
import { exportPromises } from '../own-data/export.contract.ts'
import { preferencePromises } from '../preferences/preferences.contract.ts'
import { producerPromises } from '../producers/producers.contract.ts'
import { providerAccountPromises } from '../providers/provider-accounts.contract.ts'
import { outboxPromises } from '../reach/outbox.contract.ts'
import { pushPromises } from '../reach/push/push.contract.ts'
import { refusalPromises } from '../reach/refusals.contract.ts'
import { timersRandomPromises } from '../reach/timers/timers-random.contract.ts'
import { unreadPromises } from '../reach/unread/unread.contract.ts'
import { everyonePromises } from '../sessions/everyone.contract.ts'
import { listedSignInPromises } from '../sessions/listed-sign-ins.contract.ts'
import { sessionTokenPromises } from '../sessions/session-tokens.contract.ts'
import { sessionPromises } from '../sessions/sessions.contract.ts'
import { signInPromises } from '../sessions/sign-ins.contract.ts'
import { policyPromises } from '../tokens/contract/factor-policy.contract.ts'
import { signingKeyPromises } from '../tokens/contract/signing-keys.contract.ts'
import { tokenPromises } from '../tokens/contract/tokens.contract.ts'
import { applicationPromises } from '../users/contract/applications.contract.ts'
import { erasurePromises } from '../users/contract/erasure.contract.ts'
import { externalIdPromises } from '../users/contract/external-ids.contract.ts'
import { rolePromises } from '../users/contract/roles.contract.ts'
import { userPromises } from '../users/contract/users.contract.ts'
import { webhookPromises } from '../webhooks/webhooks.contract.ts'
import { changeSignalPromises } from './change-signals.ts'
import { lifecyclePromises } from './lifecycle.ts'
import { randomPromises } from './random/random.ts'
import { type Engine, promisesOf } from './world.ts'

export function storeContract(engine: Engine): void {
  const promise = promisesOf(engine)
  const aboutSignals = engine.signalsWhenEmptied ? promisesOf(withoutEmptying(engine)) : promise
  describe(`the store on ${engine.name}`, () => {
    describe('users', () => userPromises(promise))
    describe('users by external id', () => externalIdPromises(promise))
    describe('users of several applications', () => applicationPromises(promise))
    describe('accounts at providers', () => providerAccountPromises(promise))
    describe('roles', () => rolePromises(promise))
    describe('erasing a user', () => erasurePromises(promise))
    describe('the export of a user’s data', () => exportPromises(promise))
    describe('sessions', () => sessionPromises(promise))
    describe('access tokens', () => tokenPromises(promise))
    describe('texts that are sealed again', () => sealedTextPromises(promise))
    describe('the end of every sign-in', () => everyonePromises(promise))
    describe('signing keys', () => signingKeyPromises(promise, aboutSignals))
    describe('addresses that are refused', () => refusalPromises(promise))
    describe('tokens of sessions and issued tokens', () => sessionTokenPromises(promise))
    describe('second factors', () => factorPromises(promise))
    describe('rules of second factors', () => policyPromises(promise))
    describe('one-time links', () => linkPromises(promise))
    describe('sign-ins of a user', () => signInPromises(promise))
    describe('where a user is signed in', () => listedSignInPromises(promise))
    describe('guesses', () => guessPromises(promise))
    describe('producers', () => producerPromises(promise))
    describe('the audit log', () => auditPromises(promise))
    describe('deliveries', () => deliveryPromises(promise))
    describe('content', () => contentPromises(promise))
    describe('changes by key', () => byKeyPromises(promise))
    describe('withdrawals', () => withdrawPromises(promise))
    describe('recipients', () => recipientPromises(promise))
    describe('the outbox', () => outboxPromises(promise))
    describe('web push', () => pushPromises(promise))
    describe('mail if unread', () => unreadPromises(promise))
    describe('random timers', () => timersRandomPromises(promise))
    describe('webhooks', () => webhookPromises(promise))
    describe('what users mute', () => preferencePromises(promise))
    describe('pages, with and without a filter', () => filterPromises(promise))
    describe('deep pages', () => deepPagePromises(promise))
    describe('mark read', () => markReadPromises(promise))
    describe('undo', () => undoPromises(promise))
    describe('what happened to a notification', () => explainPromises(promise))
    describe('archive, snooze, remove, see', () => placePromises(promise))
    describe('steps of bulk acts', () => bulkStepPromises(promise))
    describe('security notices', () => securityNoticePromises(promise))
    describe('versions and changes', () => changePromises(promise))
    describe('retention', () => retentionPromises(promise))
    describe('change signals', () => changeSignalPromises(aboutSignals))
    describe('random acts', () => randomPromises(promise))
    describe('scheduled backups', () => backupPromises(promise))
    describe('the numbers of each hour', () => hourlyPromises(aboutSignals))
    describe('the nodes that run', () => nodePromises(promise))
    describe('lifecycle', () => lifecyclePromises(promise))
  })
}

function withoutEmptying(engine: Engine): Engine {
  return { ...engine, newPlace: async () => ({ ...(await engine.newPlace()), empty: undefined }) }
}
