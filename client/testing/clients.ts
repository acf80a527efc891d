// For tests: clients of a real service that are signed in, by either variant.
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestService, TestUser } from '../../tests/support/service.ts'
import { type Carillon, createCarillon, type Variant } from '../carillon-client.ts'
import { CookieJar } from './cookie-jar.ts'

/** A client that has signed in through itself. A stateless one signs in again when its token is refused. */
export async function signedIn(service: TestService, user: TestUser, variant: Variant): Promise<Carillon> {
  const { username, password } = user
  if (variant === 'stateful') {
    const carillon = createCarillon({ baseUrl: service.url, fetch: new CookieJar().fetch })
    await carillon.login({ username, password, variant })
    return carillon
  }
  const carillon: Carillon = createCarillon({
    baseUrl: service.url,
    auth: async () => (await carillon.login({ username, password, variant: 'stateless' })).token,
  })
  return carillon
}

/** What a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

/** Resolves when it is so; a test's own limit ends the waiting. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5)
}
