// The promises of store.ts as tests. Every engine is held to all of them: there are no flags, and nothing is skipped.
// Each file of contract/ holds one question's promises; the laws are those of docs/architecture.md.
import { describe } from 'node:test'
import { changePromises } from './contract/changes.ts'
import { deepPagePromises } from './contract/deep-pages.ts'
import { deliveryPromises } from './contract/deliveries.ts'
import { lifePromises } from './contract/life.ts'
import { pagePromises } from './contract/pages.ts'
import { producerPromises } from './contract/producers.ts'
import { randomPromises } from './contract/random.ts'
import { readingPromises } from './contract/reading.ts'
import { ringPromises } from './contract/rings.ts'
import { sessionPromises } from './contract/sessions.ts'
import { tokenPromises } from './contract/tokens.ts'
import { userPromises } from './contract/users.ts'
import { type Engine, promisesOf } from './contract/world.ts'

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
    describe('rings', () => ringPromises(promise))
    describe('any acts in any order', () => randomPromises(promise))
    describe('life', () => lifePromises(promise))
  })
}
