// The calls of an application through the types that openapi-typescript generates, with openapi-fetch, which is made for them.
// generators.test.ts generates, compiles and runs it.
import createClient from 'openapi-fetch'
import type { paths } from '../dist/openapi-typescript.ts'

const { url, username, password, key } = JSON.parse(process.argv[2] ?? '')
const client = createClient<paths>({ baseUrl: url })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

const refused = await client.POST('/login', { body: { username, password: 'wrong' } })
if (refused.error?.error.code !== 'INVALID_CREDENTIALS')
  throw new Error('a wrong password was accepted')

const { data: login } = await client.POST('/login', {
  body: { username, password, variant: 'stateless' },
})
// @ts-expect-error A stateful login has no token, so the type has to be narrowed first.
login?.token
if (login?.variant !== 'stateless') throw new Error('the login lost its token')

const { data: delivery } = await client.POST('/api/notifications', {
  headers: bearer(key),
  body: { recipients: [{ username }], title: 'Through openapi-typescript' },
})
const page = await client.GET('/api/notifications', {
  headers: bearer(login.token),
  params: { query: { limit: 5 } },
})
if (page.error !== undefined) {
  // @ts-expect-error This route never sends the code of a refused sign-in.
  page.error.error.code === 'INVALID_CREDENTIALS'
  throw new Error(page.error.error.message)
}
const status = delivery?.data.results[0]?.status
console.log(JSON.stringify({ status, titles: page.data.data.items.map(({ title }) => title) }))
