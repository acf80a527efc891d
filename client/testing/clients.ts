// Signed-in clients of a real service.
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestService, TestUser } from '../../tests/support/service.ts'
import { type Carillon, createCarillon, type Variant } from '../carillon-client.ts'
import { CookieJar } from './cookie-jar.ts'

/** A stateless one signs in again if the service refuses its token. */
export async function signedIn(
  service: TestService,
  user: TestUser,
  variant: Variant,
): Promise<Carillon> {
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

export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('the promise did not reject')
}

/** The limit of the test ends the wait. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5)
}
