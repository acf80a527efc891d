// The promises of store.ts as tests. Every engine is held to all of them: there are no flags, and nothing is skipped.
// Each file of contract/ holds one question's promises; the laws are those of docs/architecture.md.
import { describe } from 'node:test'
import { changeSignalPromises } from './change-signals.ts'
import { changePromises } from './changes.ts'
import { deepPagePromises } from './deep-pages.ts'
import { deliveryPromises } from './deliveries.ts'
import { lifePromises } from './lifecycle.ts'
import { readingPromises } from './mark-read.ts'
import { pagePromises } from './pages.ts'
import { producerPromises } from './producers.ts'
import { randomPromises } from './random/random.ts'
import { sessionPromises } from './sessions.ts'
import { tokenPromises } from './tokens.ts'
import { userPromises } from './users.ts'
import { type Engine, promisesOf } from './world.ts'

export function storeContract(engine: Engine): void {
  const promise = promisesOf(engine)
  describe(`the store on ${engine.name}`, () => {
    describe('users', () => userPromises(promise))
    describe('sessions', () => sessionPromises(promise))
    describe('access tokens', () => tokenPromises(promise))
    describe('producers', () => producerPromises(promise))
    describe('deliveries', () => deliveryPromises(promise))
    describe('pages and counts', () => pagePromises(promise))
    describe('deep pages', () => deepPagePromises(promise))
    describe('reading', () => readingPromises(promise))
    describe('versions and changes', () => changePromises(promise))
    describe('rings', () => changeSignalPromises(promise))
    describe('any acts in any order', () => randomPromises(promise))
    describe('life', () => lifePromises(promise))
  })
}
