// Gives tests of every route a service, an HTTP client, a user with each kind of proof, and the
// routes of the published description, each with a proof that opens it.
import { after } from 'node:test'
import { newId } from '../../../server/basics/ids.ts'
import { setRole } from '../../../server/users/access/roles.store.ts'
import { putUsers } from '../../../server/users/put-users.store.ts'
import { type Proof, startTestService } from '../service.ts'
import { HttpClient } from './http-client.ts'

export type DocumentedRoute = {
  method: string
  /** `/api/notifications/{id}` is one. */
  template: string
  /** Has the id of a notification or of a user, or the name of a provider. */
  path: string
  takesBody: boolean
  example: object | undefined
  /** Empty for an open route. */
  proof: Proof
}

type Body = { content: Record<string, { example: object }> }
type Documented = Record<
  string,
  Record<string, { requestBody?: Body; security: Record<string, unknown>[] }>
>

/** Closes client and service after the tests of the file. */
export async function startEveryRoute(options: Parameters<typeof startTestService>[0] = {}) {
  const app = await startTestService(options)
  const client = new HttpClient(app.url)
  after(async () => {
    client.close()
    await app.stop()
  })
  const ann = await app.user('ann')
  const session = await app.signIn(ann, 'stateful')
  const token = await app.signIn(ann, 'stateless')
  const producer: Proof = {
    authorization: `Bearer ${(await app.producerKey(['send', 'users', 'webhooks'])).key}`,
  }
  const boss = await app.user('boss')
  await app.store.write(setRole, { userId: boss.id, role: 'operator' })
  const ofOperator = await app.signIn(boss, 'stateful')
  const resident = await app.user('resident')
  const externalId = 'customer-42'
  await app.store.write(putUsers, {
    issuer: '',
    at: app.now(),
    users: [{ newId: newId(app.now()), externalId }],
  })
  const [id = ''] = await app.deliver({ to: ann, title: 'Hi', key: 'every-route' })
  const redirect = await app.request('/carillon-client.js', { redirect: 'manual' })
  const script = `/${redirect.headers.get('location')}`

  function proofFor(template: string, security: Record<string, unknown>[]): Proof {
    if (template.startsWith('/api/operator/')) return ofOperator
    const schemes = security.flatMap((one) => Object.keys(one))
    if (schemes.includes('producer')) return producer
    if (schemes.includes('session')) return session
    return schemes.includes('token') ? token : {}
  }

  const paths = (await app.get('/openapi.json')).json().paths as Documented
  const routes = Object.entries(paths).flatMap(([template, operations]) =>
    Object.entries(operations).map(
      ([method, { requestBody, security }]): DocumentedRoute => ({
        method: method.toUpperCase(),
        template,
        path: template
          .replace('{id}', template.startsWith('/api/users/') ? resident.id : id)
          .replace('{externalId}', externalId)
          .replace('{key}', 'every-route')
          .replace('{keyId}', '0123456789abcdef')
          .replace('{provider}', 'staff')
          .replace('{category}', 'builds')
          .replace('/carillon-scripts/{name}', script),
        takesBody: requestBody !== undefined,
        example: requestBody?.content['application/json']?.example,
        proof: proofFor(template, security),
      }),
    ),
  )
  return { app, client, ann, session, token, producer, id, routes }
}
