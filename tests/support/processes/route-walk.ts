// Calls every route of the OpenAPI document of a running service, as a new user and with a
// producer's key. Each call must have its status, so a statement that a database refuses (503) is
// found; a route that is not called is a failure.
import { EventReader } from '../event-source/event-source.ts'
import { HttpClient } from '../http/http-client.ts'
import type { HttpResponse, Proof } from '../service.ts'
import { Authenticator } from '../sign-in/authenticator.ts'
import { SoftwareAuthenticator } from '../software-authenticator.ts'

type Sent = {
  path?: string
  body?: unknown
  as?: 'cookie' | 'token' | 'key' | 'nothing'
  status?: number
}
type Operation = { requestBody?: { content: Record<string, { example?: unknown }> } }

/** Passkeys need the name of a host, so the service has this CARILLON_PUBLIC_URL. */
export const publicUrl = 'http://localhost:7464'
const password = 'plum orchard gate 41'
const newPassword = 'grey heron over the weir'

/** `key` has the scopes `send`, `users` and `webhooks`. Returns the number of calls, and a sentence for each failure. */
export async function walkRoutes(
  url: string,
  key: string,
): Promise<{ calls: number; failures: string[] }> {
  const client = new HttpClient(url)
  try {
    const walk = new RouteWalk(client, { url, key })
    // A response without what the next call needs is among the failures already.
    await walk
      .all()
      .catch((error: unknown) => walk.failures.push(`the walk could not go on: ${error}`))
    return walk
  } finally {
    client.close()
  }
}

class RouteWalk {
  readonly failures: string[] = []
  calls = 0
  readonly #client: HttpClient
  readonly #place: { url: string; key: string }
  readonly #called = new Set<string>()
  readonly #cookies = new Map<string, string>()
  readonly #username = `walker-${crypto.randomUUID()}`
  #paths: Record<string, Record<string, Operation>> = {}
  #token = ''
  #userId = ''

  constructor(client: HttpClient, place: { url: string; key: string }) {
    this.#client = client
    this.#place = place
  }

  async all(): Promise<void> {
    this.#paths = (await this.#call('GET /openapi.json', { as: 'nothing' })).json().paths
    await this.#pages()
    const user = {
      username: this.#username,
      password,
      email: `${this.#username}@example.org`,
      emailVerified: true,
    }
    this.#userId = (
      await this.#call('POST /api/users', { as: 'key', body: user, status: 201 })
    ).json().data.id
    await this.#signIn()
    await this.#inbox()
    await this.#mutes()
    await this.#pushes()
    await this.#byKey()
    await this.#webhooks()
    await this.#account()
    await this.#providers()
    await this.#secondFactor()
    await this.#passwords()
    await this.#users()
    await this.#operator()
    for (const [template, methods] of Object.entries(this.#paths))
      for (const method of Object.keys(methods)) {
        const route = `${method.toUpperCase()} ${template}`
        if (!this.#called.has(route))
          this.failures.push(
            `The walk does not call ${route}. Add the call to tests/support/processes/route-walk.ts.`,
          )
      }
  }

  /** The walker is no operator, whose routes have tests of their own on each engine (tests/api/operator). */
  async #operator(): Promise<void> {
    await this.#call('GET /operator', { as: 'nothing', status: 303 })
    for (const [template, methods] of Object.entries(this.#paths))
      if (template.startsWith('/api/operator/'))
        for (const method of Object.keys(methods))
          await this.#call(`${method.toUpperCase()} ${template}`, { as: 'nothing', status: 401 })
  }

  async #pages(): Promise<void> {
    const pages = [
      '/livez',
      '/readyz',
      '/docs',
      '/docs/style.css',
      '/.well-known/jwks.json',
      '/carillon-theme.css',
      '/carillon-logo',
    ]
    for (const path of [
      ...pages,
      '/sign-in',
      '/forgot',
      '/reset',
      '/invite',
      '/login/providers',
      '/api/session',
    ])
      await this.#call(`GET ${path}`, { as: 'nothing' })
    await this.#call('GET /demonstration', { as: 'nothing' })
    await this.#call('GET /.well-known/change-password', { as: 'nothing', status: 303 })
    await this.#call('GET /.well-known/passkey-endpoints', { as: 'nothing' })
    await this.#call('GET /.well-known/security.txt', { as: 'nothing', status: 404 })
    await this.#call('GET /carillon-push.js', { as: 'nothing' })
    for (const path of ['/carillon-client.js', '/carillon-inbox.js']) {
      const { status, headers } = await this.#call(`GET ${path}`, { as: 'nothing', status: 302 })
      if (status !== 302) continue
      await this.#call('GET /carillon-scripts/{name}', {
        as: 'nothing',
        path: `/${headers.get('location')}`,
      })
    }
  }

  async #signIn(): Promise<void> {
    const login = (variant: string) => ({ username: this.#username, password, variant })
    await this.#call('POST /login', { body: login('stateful') })
    await this.#call('POST /logout', { status: 204 })
    await this.#call('POST /sign-in', { body: { username: this.#username, password }, status: 303 })
    await this.#call('POST /sign-out', { status: 303 })
    this.#token = (
      await this.#call('POST /login', { body: login('stateless'), as: 'nothing' })
    ).json().token
    this.#token = (await this.#call('POST /token/renew', { as: 'token' })).json().token
    await this.#call('POST /login', { body: login('stateful') })
    for (const as of ['cookie', 'token'] as const)
      for (const path of [
        '/routeRestreinte',
        '/api/me',
        '/api/session',
        '/verify',
        '/api/me/sessions',
        '/api/me/activity',
        '/api/me/export',
      ])
        await this.#call(`GET ${path}`, { as })
    for (const path of ['/', '/account', '/account/', '/inbox', '/inbox/'])
      await this.#call(`GET ${path}`, path === '/' ? { status: 404 } : {})
    await this.#call('POST /api/me/token', { status: 201 })
    // Only the only user may.
    await this.#call('POST /api/me/test-notification', { status: 404 })
  }

  async #inbox(): Promise<void> {
    const send = async (body: object) => {
      const recipients = [{ username: this.#username }, { username: 'nobody' }]
      const sent = { as: 'key', body: { recipients, title: 'Walk', ...body }, status: 201 } as const
      return (await this.#call('POST /api/notifications', sent)).json().data.results[0].id as string
    }
    const cookie = this.#headers('cookie')
    using stream = await EventReader.open(this.#place.url, { headers: cookie })
    await stream.next('hello')
    this.#called.add('GET /api/notifications/stream')
    const changes = 'GET /api/notifications/changes'
    const { position } = (
      await this.#call(changes, { path: '/api/notifications/changes?since=0' })
    ).json().data
    const held = this.#call(changes, {
      path: `/api/notifications/changes?since=${position}&wait=20`,
    })
    const id = await send({ category: 'walk' })
    if (!(await held).text.includes(id))
      this.failures.push('the held poll does not receive the delivery')
    if ((await stream.next('created')).data.notification.id !== id)
      this.failures.push('the stream does not send the delivery')
    if ((await send({ key: 'walk' })) !== (await send({ key: 'walk', renotify: true })))
      this.failures.push('an update by key does not keep the id')
    for (const as of ['cookie', 'token'] as const) {
      for (const query of [
        '',
        '?page=1&limit=5',
        '?status=unread',
        '?status=read&category=walk',
        '?category=walk',
      ])
        await this.#call('GET /api/notifications', { as, path: `/api/notifications${query}` })
      await this.#call('GET /api/notifications/counts', { as })
      const at = (act = '') => ({ as, path: `/api/notifications/${id}${act}` })
      await this.#call('GET /api/notifications/{id}', at())
      await this.#call('PATCH /api/notifications/{id}/read', { ...at('/read'), status: 204 })
      await this.#call('PATCH /api/notifications/{id}/unread', { ...at('/unread'), status: 204 })
      // One notification is marked as unread below the mark of the read-all.
      await this.#call('POST /api/notifications/read-all', { as, status: 204 })
      await this.#call('PATCH /api/notifications/{id}/unread', { ...at('/unread'), status: 204 })
      for (const query of ['?category=walk', '']) {
        const path = `/api/notifications/read-all${query}`
        await this.#call('POST /api/notifications/read-all', { as, path, status: 204 })
        await this.#call('POST /api/notifications/undo', { as, status: 204 })
      }
      await this.#call('PATCH /api/notifications/{id}/archive', { ...at('/archive'), status: 204 })
      await this.#call('PATCH /api/notifications/{id}/unarchive', {
        ...at('/unarchive'),
        status: 204,
      })
      const body = { until: new Date(Date.now() + 3_600_000).toISOString() }
      await this.#call('PATCH /api/notifications/{id}/snooze', {
        ...at('/snooze'),
        body,
        status: 204,
      })
      await this.#call('PATCH /api/notifications/{id}/unarchive', {
        ...at('/unarchive'),
        status: 204,
      })
      await this.#call('POST /api/notifications/seen', { as, body: { throughSeq: 1 }, status: 204 })
      await this.#call('POST /api/notifications/archive-read', { as, status: 204 })
      await this.#call('PATCH /api/notifications/{id}/unarchive', {
        ...at('/unarchive'),
        status: 204,
      })
    }
    for (let n = 0; n < 2; n++) {
      await this.#call('DELETE /api/notifications/{id}', {
        path: `/api/notifications/${id}`,
        status: 204,
      })
    }
  }

  async #account(): Promise<void> {
    await this.#call('PATCH /api/me', { body: { displayName: 'Walker' } })
    await this.#call('POST /api/me/confirm', { body: { password }, status: 204 })
    const sessions = async () => {
      await this.#call('POST /login', {
        as: 'nothing',
        body: { username: this.#username, password, variant: 'stateless' },
      })
      const { items } = (await this.#call('GET /api/me/sessions')).json().data
      return items.find(({ current }: { current: boolean }) => !current).id as string
    }
    const one = await sessions()
    await this.#call('DELETE /api/me/sessions/{id}', {
      path: `/api/me/sessions/${one}`,
      status: 204,
    })
    await this.#call('DELETE /api/me/sessions', { status: 204 })
  }

  async #mutes(): Promise<void> {
    const category = { as: 'key', path: '/api/categories/walk' } as const
    await this.#call('PUT /api/categories/{category}', {
      ...category,
      body: { name: 'Walks' },
      status: 204,
    })
    await this.#call('GET /api/categories/{category}', category)
    for (const mutedUntil of ['forever', null]) {
      await this.#call('PUT /api/me/preferences', {
        body: { categories: { walk: { mutedUntil } } },
        status: 204,
      })
      await this.#call('GET /api/me/preferences')
    }
  }

  async #pushes(): Promise<void> {
    const path = '/api/me/push-subscriptions'
    await this.#call(`POST ${path}`, { body: this.#exampleOf(`POST ${path}`), status: 204 })
    const [one] = (await this.#call(`GET ${path}`)).json().data.items
    await this.#call(`DELETE ${path}/{id}`, { path: `${path}/${one.id}`, status: 204 })
  }

  async #webhooks(): Promise<void> {
    const body = { events: ['notification.created', 'user.erased'], categories: ['walk'] }
    const { id } = (await this.#call('POST /api/webhooks', { as: 'key', body, status: 201 })).json()
      .data
    const path = `/api/webhooks/${id}`
    await this.#call('GET /api/webhooks', { as: 'key' })
    await this.#call('GET /api/webhooks/{id}/events', { as: 'key', path: `${path}/events` })
    await this.#call('PATCH /api/webhooks/{id}', { as: 'key', path, body: { rotateSecret: true } })
    await this.#call('DELETE /api/webhooks/{id}', { as: 'key', path, status: 204 })
  }

  async #byKey(): Promise<void> {
    const keyed = { as: 'key', path: '/api/notifications/by-key/walk' } as const
    const delivery = { recipients: [{ username: this.#username }], title: 'Walk', key: 'walk' }
    await this.#call('POST /api/notifications', { as: 'key', body: delivery, status: 201 })
    await this.#call('PATCH /api/notifications/by-key/{key}', {
      ...keyed,
      body: { title: 'Walked' },
    })
    await this.#call('POST /api/notifications/by-key/{key}/resolve', {
      ...keyed,
      path: `${keyed.path}/resolve`,
    })
    await this.#call('DELETE /api/notifications/by-key/{key}', keyed)
  }

  /** No provider is configured: tests/api/providers/ tests what these routes do. */
  async #providers(): Promise<void> {
    await this.#call('GET /api/me/providers')
    const missing = { status: 404 }
    await this.#call('GET /login/with/{provider}', { path: '/login/with/none', ...missing })
    await this.#call('GET /login/with/{provider}/callback', {
      path: '/login/with/none/callback',
      ...missing,
    })
    const body = this.#exampleOf('POST /login/with/{provider}')
    await this.#call('POST /login/with/{provider}', { path: '/login/with/none', body, ...missing })
    const start = {
      path: '/login/with/none/start',
      body: this.#exampleOf('POST /login/with/{provider}/start'),
      status: 403,
    }
    await this.#call('POST /login/with/{provider}/start', start)
    const link = { path: '/api/me/providers/none/link', body: { returnTo: '/account' }, ...missing }
    await this.#call('POST /api/me/providers/{provider}/link', link)
    await this.#call('DELETE /api/me/providers/{provider}', {
      path: '/api/me/providers/none',
      ...missing,
    })
  }

  async #secondFactor(): Promise<void> {
    const login = { username: this.#username, password, variant: 'stateful' }
    const challenge = async () =>
      (await this.#call('POST /login', { body: login, status: 401 })).json().error.challenge
    await this.#call('POST /api/me/factors/link', { status: 409 })
    const { id, secret } = (
      await this.#call('POST /api/me/factors/totp', { body: {}, status: 201 })
    ).json().data
    const first = { id, code: new Authenticator(secret).code(Date.now()) }
    await this.#call('POST /api/me/factors/totp/confirm', { body: first })
    const made = await this.#call('POST /api/me/factors/recovery-codes', { status: 201 })
    await this.#call('GET /api/me/factors')
    const body = { challenge: await challenge(), recoveryCode: made.json().data.recoveryCodes[0] }
    await this.#call('POST /login/second-factor', { body })
    const authenticator = new SoftwareAuthenticator({ origin: publicUrl })
    const creation = await this.#call('POST /api/me/factors/passkeys/options', { status: 200 })
    const { passkey, response } = authenticator.create(creation.json().data)
    await this.#call('POST /api/me/factors/passkeys', {
      body: { label: 'Key', response },
      status: 201,
    })
    const options = (
      await this.#call('POST /login/passkey/options', { as: 'nothing', body: {} })
    ).json()
    const signedIn = { variant: 'stateful', response: authenticator.get(passkey, options) }
    await this.#call('POST /login/passkey', { body: signedIn })
    const { items } = (await this.#call('GET /api/me/factors')).json().data
    for (const factor of items)
      await this.#call('DELETE /api/me/factors/{id}', {
        path: `/api/me/factors/${factor.id}`,
        status: 204,
      })
  }

  async #passwords(): Promise<void> {
    await this.#call('PUT /api/me/password', {
      body: { currentPassword: password, newPassword },
      status: 204,
    })
    const { items } = (await this.#call('GET /api/me/sessions')).json().data
    const disown = { path: `/api/me/sessions/${items[0].id}/disown` }
    await this.#call('POST /api/me/sessions/{id}/disown', disown)
    const link = {
      as: 'key',
      path: `/api/users/${this.#userId}/links`,
      body: { purpose: 'reset' },
      status: 201,
    } as const
    const made = (await this.#call('POST /api/users/{id}/links', link)).json().data
    const token = made.url.split('#')[1]
    await this.#call('POST /password/link', { as: 'nothing', body: { token } })
    await this.#call('POST /password/reset', {
      as: 'nothing',
      body: { token, newPassword: password },
      status: 204,
    })
    // No mail server is configured.
    await this.#call('POST /password/forgot', {
      as: 'nothing',
      body: { username: this.#username },
      status: 404,
    })
    const click = { as: 'nothing', status: 404, body: { 'List-Unsubscribe': 'One-Click' } } as const
    await this.#call('POST /unsubscribe', click)
    await this.#call('GET /unsubscribe', { as: 'nothing', status: 404 })
    await this.#call('POST /forgot', {
      as: 'nothing',
      body: { account: this.#username },
      status: 404,
    })
  }

  async #users(): Promise<void> {
    const external = `walk ${this.#username}`
    const named = {
      as: 'key',
      path: `/api/users/external/${encodeURIComponent(external)}`,
    } as const
    const own = { as: 'key', path: `/api/users/${this.#userId}` } as const
    const at = <Place extends { path: string }>(place: Place, more: string) => ({
      ...place,
      path: place.path + more,
    })
    const profile = { displayName: 'Walker' }
    await this.#call('PUT /api/users', {
      as: 'key',
      body: { users: [{ externalId: external, ...profile }] },
    })
    await this.#call('PUT /api/users/external/{externalId}', {
      ...named,
      body: { displayName: 'External walker' },
    })
    await this.#call('GET /api/users/external/{externalId}', named)
    await this.#call('PATCH /api/users/external/{externalId}', { ...named, body: profile })
    await this.#call('GET /api/users', { as: 'key', path: '/api/users?limit=2' })
    await this.#call('GET /api/users/{id}', own)
    await this.#call('PATCH /api/users/{id}', { ...own, body: profile })
    const issued = { body: { scope: 'inbox' }, status: 201 }
    for (const [route, place] of [
      ['/api/users/external/{externalId}', named],
      ['/api/users/{id}', own],
    ] as const) {
      await this.#call(`POST ${route}/tokens`, { ...at(place, '/tokens'), ...issued })
      await this.#call(`DELETE ${route}/tokens`, { ...at(place, '/tokens'), status: 204 })
      await this.#call(`DELETE ${route}/sessions`, { ...at(place, '/sessions'), status: 204 })
    }
    const links = { ...at(named, '/links'), body: { purpose: 'reset' }, status: 409 }
    await this.#call('POST /api/users/external/{externalId}/links', links)
    await this.#call('DELETE /api/users/external/{externalId}', { ...named, status: 204 })
    await this.#call('DELETE /api/users/{id}', { ...own, status: 204 })
    await this.#call('POST /api/users', {
      as: 'key',
      body: { username: this.#username, password },
      status: 201,
    })
    await this.#call('POST /login', {
      body: { username: this.#username, password, variant: 'stateful' },
    })
    await this.#call('DELETE /api/me', { status: 204 })
  }

  /** The document names the `route`. Keeps the cookies of the response. */
  async #call(
    route: string,
    { path, body, as = 'cookie', status = 200 }: Sent = {},
  ): Promise<HttpResponse> {
    const [method = '', template = ''] = route.split(' ')
    this.#called.add(route)
    this.calls++
    const json: Proof = body === undefined ? {} : { 'content-type': 'application/json' }
    const response = await this.#client.request({
      method,
      path: path ?? template,
      headers: { ...this.#headers(as), ...json },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (response.status !== status)
      this.failures.push(
        `${route} (${as}): ${response.status}, not ${status}: ${response.text.slice(0, 300)}`,
      )
    if (as === 'cookie')
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        this.#cookies.set(name, value)
      }
    return response
  }

  #headers(as: Sent['as']): Proof {
    if (as === 'key') return { authorization: `Bearer ${this.#place.key}` }
    if (as === 'token') return { authorization: `Bearer ${this.#token}` }
    if (as === 'nothing' || this.#cookies.size === 0) return {}
    return { cookie: [...this.#cookies].map((pair) => pair.join('=')).join('; ') }
  }

  #exampleOf(route: string): unknown {
    const [method = '', template = ''] = route.split(' ')
    return this.#paths[template]?.[method.toLowerCase()]?.requestBody?.content['application/json']
      ?.example
  }
}
