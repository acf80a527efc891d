// For tests: clients of a real service that are signed in, by either variant. Node's fetch keeps no cookies; a browser's does.
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestService, TestUser } from '../../server/testing/service.ts'
import { type Carillon, type Connection, createCarillon, type Variant } from '../carillon-client.ts'

/** Keeps and sends cookies as a browser does for one origin, where credentials are included. */
export class CookieJar {
  readonly #kept = new Map<string, string>()

  /** The header field as it is sent. */
  get cookie(): string {
    return [...this.#kept].map((pair) => pair.join('=')).join('; ')
  }

  readonly fetch: NonNullable<Connection['fetch']> = async (url, init) => {
    const headers = new Headers(init.headers)
    const carries = init.credentials === 'include'
    if (carries && this.cookie !== '') headers.set('cookie', this.cookie)
    const response = await fetch(url, { ...init, headers })
    for (const line of carries ? response.headers.getSetCookie() : []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') this.#kept.delete(name)
      else this.#kept.set(name, value)
    }
    return response
  }
}

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
