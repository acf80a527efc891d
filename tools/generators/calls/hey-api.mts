// The calls of an application through the code that @hey-api/openapi-ts generates. generators.test.ts generates, compiles and runs it.
import { createClient } from '../dist/hey-api/client/index.ts'
import {
  issueExternalUserToken,
  listNotifications,
  putExternalUser,
  sendNotification,
  signIn,
} from '../dist/hey-api/sdk.gen.ts'

const { url, username, password, key } = JSON.parse(process.argv[2] ?? '')
const client = createClient({ baseUrl: url })

const refused = await signIn({ client, body: { username, password: 'wrong' } })
if (refused.error?.error.code !== 'INVALID_CREDENTIALS')
  throw new Error('a wrong password was accepted')

const stateful = await signIn({
  client,
  body: { username, password, variant: 'stateful' },
  throwOnError: true,
})
// @ts-expect-error A stateful login has no token, so the type has to be narrowed first.
stateful.data.token

const { data: login } = await signIn({
  client,
  body: { username, password, variant: 'stateless' },
  throwOnError: true,
})
if (login.variant !== 'stateless') throw new Error('the login lost its token')

const { data: delivery } = await sendNotification({
  client,
  auth: key,
  body: { recipients: [{ username }], title: 'Through @hey-api/openapi-ts' },
  throwOnError: true,
})
const page = await listNotifications({ client, auth: login.token, query: { limit: 5 } })
if (page.error !== undefined) {
  // @ts-expect-error This route never sends the code of a refused sign-in.
  page.error.error.code === 'INVALID_CREDENTIALS'
  throw new Error(page.error.error.message)
}

// A user of the application, whose id has a slash.
const ofUser = { client, auth: key, path: { externalId: 'shop/7' }, throwOnError: true } as const
const { data: user } = await putExternalUser({ ...ofUser, body: { displayName: 'Kim' } })
const { data: issued } = await issueExternalUserToken({ ...ofUser, body: { scope: 'inbox' } })
const { data: empty } = await listNotifications({
  client,
  auth: issued.data.token,
  throwOnError: true,
})
if (user.data.externalId !== 'shop/7' || empty.data.total !== 0)
  throw new Error('this is not the inbox of shop/7')

const [{ status } = {}] = delivery.data.results
console.log(JSON.stringify({ status, titles: page.data.data.items.map(({ title }) => title) }))
