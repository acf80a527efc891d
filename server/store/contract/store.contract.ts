// The promises of store.ts as tests, the same for every engine, without flags and without skipped tests. Each file of
// contract/ holds the promises of one noun. "Law 3" is law 3 in docs/architecture.md, "The laws of the store"; ids such as S5
// are rows of SECURITY.md.
import { describe } from 'node:test'
import { changeSignalPromises } from './change-signals.ts'
import { changePromises } from './changes.ts'
import { deepPagePromises } from './deep-pages.ts'
import { deliveryPromises } from './deliveries.ts'
import { filterPromises } from './filters.ts'
import { lifecyclePromises } from './lifecycle.ts'
import { categoryReadAllPromises } from './marks/category-read-all.ts'
import { markReadPromises } from './marks/mark-read.ts'
import { markUnreadPromises } from './marks/mark-unread.ts'
import { undoPromises } from './marks/undo.ts'
import { pagePromises } from './pages.ts'
import { randomPromises } from './random/random.ts'
import { auditPromises } from './sign-in/audit.ts'
import { factorPromises } from './sign-in/factors.ts'
import { guessPromises } from './sign-in/guesses.ts'
import { linkPromises } from './sign-in/links.ts'
import { listedSignInPromises } from './sign-in/listed-sign-ins.ts'
import { producerPromises } from './sign-in/producers.ts'
import { sealedTextPromises } from './sign-in/sealed-texts.ts'
import { sessionTokenPromises } from './sign-in/session-tokens.ts'
import { sessionPromises } from './sign-in/sessions.ts'
import { signInPromises } from './sign-in/sign-ins.ts'
import { signingKeyPromises } from './sign-in/signing-keys.ts'
import { tokenPromises } from './sign-in/tokens.ts'
import { applicationPromises } from './users/applications.ts'
import { erasurePromises } from './users/erasure.ts'
import { externalIdPromises } from './users/external-ids.ts'
import { providerAccountPromises } from './users/provider-accounts.ts'
import { recipientPromises } from './users/recipients.ts'
import { userPromises } from './users/users.ts'
import { type Engine, promisesOf } from './world.ts'

export function storeContract(engine: Engine): void {
  const promise = promisesOf(engine)
  describe(`the store on ${engine.name}`, () => {
    describe('users', () => userPromises(promise))
    describe('users by external id', () => externalIdPromises(promise))
    describe('users of several applications', () => applicationPromises(promise))
    describe('accounts at providers', () => providerAccountPromises(promise))
    describe('erasing a user', () => erasurePromises(promise))
    describe('sessions', () => sessionPromises(promise))
    describe('access tokens', () => tokenPromises(promise))
    describe('texts that are sealed again', () => sealedTextPromises(promise))
    describe('signing keys', () => signingKeyPromises(promise))
    describe('tokens of sessions and issued tokens', () => sessionTokenPromises(promise))
    describe('second factors', () => factorPromises(promise))
    describe('one-time links', () => linkPromises(promise))
    describe('sign-ins of a user', () => signInPromises(promise))
    describe('where a user is signed in', () => listedSignInPromises(promise))
    describe('guesses', () => guessPromises(promise))
    describe('producers', () => producerPromises(promise))
    describe('the audit log', () => auditPromises(promise))
    describe('deliveries', () => deliveryPromises(promise))
    describe('recipients', () => recipientPromises(promise))
    describe('pages and counts', () => pagePromises(promise))
    describe('lists with a filter', () => filterPromises(promise))
    describe('deep pages', () => deepPagePromises(promise))
    describe('mark read', () => markReadPromises(promise))
    describe('mark unread', () => markUnreadPromises(promise))
    describe('undo', () => undoPromises(promise))
    describe('read-all of categories', () => categoryReadAllPromises(promise))
    describe('versions and changes', () => changePromises(promise))
    describe('change signals', () => changeSignalPromises(promise))
    describe('random acts', () => randomPromises(promise))
    describe('lifecycle', () => lifecyclePromises(promise))
  })
}
