// Adds a user with a random password, a producer key and a notification to an empty store.
import { CarillonError } from '../basics/errors.ts'
import type { Deliveries } from '../delivery/deliver.ts'
import type { Site } from '../http/site.ts'
import type { Pages } from '../pages/page.ts'
import { pagePath } from '../pages/places.ts'
import type { ProducerKeys } from '../producers/producer-key.ts'
import { listProducers } from '../producers/producers.store.ts'
import type { Store } from '../store/store.ts'
import { generatedPasswordDays, makePassphrase } from '../users/access/access.ts'
import type { UserDependencies } from '../users/find-user.ts'
import { listUsers } from '../users/users.store.ts'
import { addUser, firstUsername } from '../users/users.ts'

const keyName = 'first start'

export function progressOf(store: Store): Pick<Pages, 'onlyUser' | 'hasOwnKey'> {
  return {
    onlyUser: async () => {
      const [user, another] = await store.read(listUsers, { after: '', limit: 2 })
      return another ? undefined : user
    },
    hasOwnKey: async () => {
      const producers = await store.read(listProducers)
      return producers.some(({ name, revokedAt }) => name !== keyName && revokedAt === null)
    },
  }
}

export type FirstSignIn = { username: string; password: string; key: string }

type Dependencies = {
  users: UserDependencies
  producerKeys: ProducerKeys
  deliveries: Deliveries
  site: Site
}

export async function firstStart(dependencies: Dependencies): Promise<FirstSignIn | undefined> {
  const { users, producerKeys, deliveries, site } = dependencies
  if ((await users.store.read(listUsers, { after: '', limit: 1 })).length > 0) return undefined
  const credentials = { username: firstUsername, password: makePassphrase() }
  try {
    await addUser(users, { ...credentials, isGenerated: true, role: 'operator' })
  } catch (error) {
    // Another process displays the sign-in.
    if (error instanceof CarillonError && error.code === 'CONFLICT') return undefined
    throw error
  }
  const { id, key } = await producerKeys.issue({ name: keyName, scopes: ['send'], expiresAt: null })
  const welcome = {
    recipients: [{ username: credentials.username }],
    title: 'Welcome to Carillon',
    body: 'This inbox works. Send the next notification with your producer key.',
    url: pagePath({ site, pages: { prefix: '' } }, 'docs'),
    category: 'welcome',
  }
  await deliveries.deliver(id, welcome)
  return { ...credentials, key }
}

/** Browsers allow passkeys at `localhost`, but at no IP address. */
export function firstSignInText(
  { username, password, key }: FirstSignIn,
  url: string,
  publicUrl?: string,
): string {
  const browserUrl =
    publicUrl ?? url.replace(/^http:\/\/(127(\.\d+){3}|\[::1\])(?=[:/]|$)/, 'http://localhost')
  return `Open ${browserUrl}/ in a browser and sign in. This is displayed once; keep it.

username: ${username}
password: ${password}
key: ${key}

The password works for ${generatedPasswordDays} days: choose your own on the account page before.
The inbox shows the first steps. Every route, with commands to copy: ${browserUrl}/docs
If this is a file, save both elsewhere and delete it.
`
}
