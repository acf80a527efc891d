// The first start on an empty store: one user, one producer key, one notification, so that everything can be tried at
// once. There is no default password: each store gets its own, displayed once.
import { CarillonError } from '../basics/errors.ts'
import type { Deliveries } from '../delivery/deliver.ts'
import type { Site } from '../http/site.ts'
import { pagePath } from '../pages/places.ts'
import type { ProducerKeys } from '../producers/producer-key.ts'
import { listUsers } from '../users/users.store.ts'
import { addUser, firstUsername, makePassphrase, type UserDependencies } from '../users/users.ts'

export type FirstSignIn = { username: string; password: string; key: string }

type Dependencies = { users: UserDependencies; producerKeys: ProducerKeys; deliveries: Deliveries; site: Site }

/** Undefined if the store has a user already. */
export async function firstStart(dependencies: Dependencies): Promise<FirstSignIn | undefined> {
  const { users, producerKeys, deliveries, site } = dependencies
  if ((await users.store.read(listUsers, { after: '', limit: 1 })).length > 0) return undefined
  const credentials = { username: firstUsername, password: makePassphrase() }
  try {
    await addUser(users, { ...credentials, isGenerated: true })
  } catch (error) {
    // Another process that starts at the same moment added the user first, and displays the sign-in.
    if (error instanceof CarillonError && error.code === 'CONFLICT') return undefined
    throw error
  }
  const { id, key } = await producerKeys.issue({ name: 'first start', scopes: ['send'], expiresAt: null })
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

/** The text that is displayed once. Without a public URL it names `localhost`: browsers have passkeys there, and at no number. */
export function firstSignInText({ username, password, key }: FirstSignIn, url: string, publicUrl?: string): string {
  const browserUrl = publicUrl ?? url.replace(/^http:\/\/(127(\.\d+){3}|\[::1\])(?=[:/]|$)/, 'http://localhost')
  return `Open ${browserUrl}/ in a browser and sign in. This is displayed once; keep it.

username: ${username}
password: ${password}
key: ${key}

The inbox shows the first steps. Every route, with commands to copy: ${browserUrl}/docs
If this is a file, save both elsewhere and delete it.
`
}
