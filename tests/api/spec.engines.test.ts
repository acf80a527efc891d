// The rules of the specification (the spec), in both variants; it is not in this repository. A
// sign-in sends only the spec's fields, so the service's setting decides the variant.
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import {
  type HttpResponse,
  type Proof,
  startTestService,
  type TestUser,
  variants,
} from '../support/service.ts'

type Tables = Awaited<
  ReturnType<Awaited<ReturnType<typeof startTestService>>['database']['tables']>
>

/** Only a row was added to audit, known_device, and guess_count. */
function changed(old: Tables, now: Tables): string[] {
  for (const name of ['audit', 'guess_count', 'known_device']) {
    const rows = now[name]?.map((row) => JSON.stringify(row)) ?? []
    for (const row of old[name] ?? [])
      assert.ok(rows.includes(JSON.stringify(row)), `${name} has changed`)
    assert.equal(rows.length, (old[name]?.length ?? 0) + 1, name)
  }
  return Object.keys(now).filter((name) => JSON.stringify(now[name]) !== JSON.stringify(old[name]))
}

for (const variant of variants) {
  const app = await startTestService({ env: { CARILLON_VARIANT: variant } })
  after(() => app.stop())
  const ann = await app.user('ann')
  const promise = (title: string, attempt: () => Promise<void>) =>
    test(`${title} (${variant})`, attempt)

  const login = ({ username, password }: TestUser) => app.post('/login', { username, password })

  /** The cookie or the token from the response to the login. */
  function proofIn(response: HttpResponse): Proof {
    if (variant === 'stateless') return { authorization: `Bearer ${response.json().token}` }
    return { cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
  }
  const signedIn = async (user: TestUser = ann) => proofIn(await login(user))

  /** `ids` are oldest first. */
  async function reader(notifications: number) {
    const user = await app.user()
    const ids: string[] = []
    for (let n = 1; n <= notifications; n++)
      ids.push(...(await app.deliver({ to: user, title: `No. ${n}` })))
    return { user, ids, proof: await signedIn(user) }
  }

  function isUnauthorized(response: HttpResponse, code: string, message: string): void {
    assert.equal(response.status, 401)
    const { error } = response.json()
    assert.deepEqual(
      { code: error.code, status: error.status, message: error.message },
      { code, status: 401, message },
    )
  }

  // Purpose

  promise('login with a wrong password returns 401 and no proof', async () => {
    const response = await login({ ...ann, password: 'not the password of ann' })
    assert.equal(response.status, 401)
    assert.deepEqual(response.headers.getSetCookie(), [])
    assert.deepEqual(Object.keys(response.json()), ['success', 'error'])
  })

  promise(
    'the restricted route returns 401 without a proof or with an invalid one, and 200 with a valid one',
    async () => {
      const invalid =
        variant === 'stateful'
          ? { cookie: `carillon=${randomUUID()}.${'A'.repeat(22)}.${'A'.repeat(43)}` }
          : { authorization: 'Bearer a.b.c' }
      const statuses = [{}, invalid, await signedIn()].map(
        async (proof) => (await app.get('/routeRestreinte', proof)).status,
      )
      assert.deepEqual(await Promise.all(statuses), [401, 401, 200])
    },
  )

  const readStates = async (proof: Proof) => (await app.list(proof)).items.map(({ read }) => read)

  // Resources and their fields

  for (const field of ['username', 'password'] as const)
    promise(`login returns 400 and names ${field} if it is missing or not a string`, async () => {
      const { username, password } = ann
      const { [field]: _, ...without } = { username, password }
      for (const body of [without, { ...without, [field]: 7 }, { ...without, [field]: null }]) {
        const response = await app.post('/login', body)
        assert.equal(response.status, 400)
        assert.deepEqual(
          response.json().error.details.map((fault: { field: string }) => fault.field),
          [field],
        )
      }
    })

  promise('login returns a cookie (stateful) or a User and a token (stateless)', async () => {
    const response = await login(ann)
    const body = response.json()
    if (variant === 'stateful') {
      assert.match(response.headers.getSetCookie()[0] ?? '', /^carillon=/)
      assert.equal(body.token, undefined)
      return
    }
    assert.equal(body.User.id, ann.id)
    assert.equal(typeof body.token, 'string')
    assert.deepEqual(response.headers.getSetCookie(), [])
  })

  promise(
    'User in the login response is the user who signed in, without secret fields',
    async () => {
      const { User } = (await login(ann)).json()
      const none = { externalId: null, displayName: null, locale: null, email: null }
      assert.deepEqual(User, {
        id: ann.id,
        username: 'ann',
        ...none,
        createdAt: '2026-01-01T00:00:00.000Z',
      })
    },
  )

  promise(
    'the list is { success: true, data: { items, total, hasMore } }: an array, a number and a boolean',
    async () => {
      const { proof } = await reader(2)
      const body = (await app.get('/api/notifications?page=1&limit=1', proof)).json()
      assert.deepEqual(Object.keys(body), ['success', 'data'])
      assert.equal(body.success, true)
      assert.ok(Array.isArray(body.data.items))
      assert.equal(body.data.total, 2)
      assert.equal(body.data.hasMore, true)
    },
  )

  promise(
    'the proof sets userId, and no operation changes the notifications of another user',
    async () => {
      const bob = await reader(2)
      const eve = await reader(1)
      assert.equal((await app.get('/routeRestreinte', eve.proof)).json().data.userId, eve.user.id)
      await app.post('/api/notifications/read-all', undefined, eve.proof)
      assert.equal(
        (await app.patch(`/api/notifications/${bob.ids[0]}/read`, eve.proof)).status,
        404,
      )
      assert.deepEqual(await readStates(bob.proof), [false, false])
      assert.deepEqual(await readStates(eve.proof), [true])
    },
  )

  promise('the id of a notification is the :id of its path', async () => {
    const { proof } = await reader(2)
    const newest = (await app.list(proof)).items[0]
    const response = await app.get(`/api/notifications/${newest?.id}`, proof)
    assert.deepEqual(response.json().data, newest)
  })

  // States and transitions

  promise('GET /routeRestreinte without a proof returns 401 and changes nothing', async () => {
    const before = await app.database.version()
    isUnauthorized(await app.get('/routeRestreinte'), 'Unauthorized', 'Unauthorized')
    assert.equal(await app.database.version(), before)
  })

  if (variant === 'stateful') {
    promise(
      'login stores a session with only hashes of the cookie, its device, an audit entry and a count of sign-ins, and returns 200 with the cookie',
      async () => {
        const user = await app.user()
        const before = await app.database.tables()
        const response = await login(user)
        assert.equal(response.status, 200)
        const secret = proofIn(response).cookie?.split('=')[1] ?? ''
        const tables = await app.database.tables()
        const { session: sessions = [] } = tables
        const { session: sessionsBefore = [] } = before
        assert.deepEqual(changed(before, tables), [
          'audit',
          'guess_count',
          'known_device',
          'session',
        ])
        const added = sessions.filter(
          (row) => !sessionsBefore.some((old) => old.secret_hash === row.secret_hash),
        )
        assert.deepEqual(
          added.map(({ sign_in_id, device, ...row }) => [typeof sign_in_id, typeof device, row]),
          [
            [
              'string',
              'string',
              {
                secret_hash: sha256(secret),
                factor: null,
                family_hash: sha256(secret.split('.')[1] ?? ''),
                user_id: user.id,
                username: user.username,
                created_at: app.now(),
                last_seen_at: app.now(),
                address: '127.0.0.1',
                confirmed_at: null,
                has_tokens: 0,
                generation: 0,
                rotated_at: null,
                secret_used_at: null,
              },
            ],
          ],
        )
        assert.ok(!JSON.stringify(await app.database.tables()).includes(secret))
      },
    )

    promise('login ends the session whose cookie the request presents', async () => {
      const running = await signedIn()
      const { username, password } = ann
      const next = proofIn(await app.post('/login', { username, password }, running))
      assert.notEqual(next.cookie, running.cookie)
      assert.equal((await app.get('/routeRestreinte', running)).status, 401)
      assert.equal((await app.get('/routeRestreinte', next)).status, 200)
    })
  } else {
    promise(
      'login returns 200 with User and token, and stores no proof: only its device, an audit entry and a count of sign-ins',
      async () => {
        const user = await app.user()
        const before = await app.database.tables()
        const response = await login(user)
        assert.equal(response.status, 200)
        const { token, deviceToken } = response.json()
        assert.deepEqual(Object.keys(response.json()), [
          'User',
          'token',
          'expiresAt',
          'deviceToken',
          'variant',
        ])
        const tables = await app.database.tables()
        assert.deepEqual(changed(before, tables), ['audit', 'guess_count', 'known_device'])
        for (const secret of [...token.split('.'), deviceToken, deviceToken.split('.').at(-1)])
          assert.ok(!JSON.stringify(tables).includes(secret), secret)
      },
    )

    promise('GET /routeRestreinte with the token returns 200 and stores nothing', async () => {
      const proof = await signedIn()
      const version = await app.database.version()
      assert.equal((await app.get('/routeRestreinte', proof)).status, 200)
      assert.equal(await app.database.version(), version)
      assert.deepEqual((await app.database.tables()).session, [])
    })
  }

  // Endpoints

  promise('GET /routeRestreinte returns 200 with the user and the kind of proof', async () => {
    const response = await app.get('/routeRestreinte', await signedIn())
    assert.equal(response.status, 200)
    const proof = variant === 'stateful' ? 'session' : 'access-token'
    assert.deepEqual(response.json(), {
      success: true,
      data: { userId: ann.id, username: 'ann', proof },
    })
  })

  promise('POST /login accepts its body as JSON and as a form', async () => {
    const { username, password } = ann
    const form = await app.request('/login', {
      method: 'POST',
      body: new URLSearchParams({ username, password }),
    })
    for (const response of [await login(ann), form]) {
      assert.equal(response.status, 200)
      assert.equal((await app.get('/routeRestreinte', proofIn(response))).status, 200)
    }
  })

  promise(
    'GET /api/notifications accepts numbers as page and limit, and refuses words',
    async () => {
      const { ids, proof } = await reader(5)
      const page = await app.list(proof, '?page=2&limit=2')
      assert.deepEqual(
        page.items.map(({ id }) => id),
        [ids[2], ids[1]],
      )
      assert.equal((await app.get('/api/notifications?page=two', proof)).status, 400)
      assert.equal((await app.get('/api/notifications?limit=two', proof)).status, 400)
    },
  )

  promise(
    'POST /api/notifications/read-all without a body returns 204 without a body',
    async () => {
      const { proof } = await reader(2)
      const response = await app.post('/api/notifications/read-all', undefined, proof)
      assert.deepEqual(
        [response.status, response.text, response.headers.get('content-type')],
        [204, '', null],
      )
      assert.equal((await app.list(proof)).unread, 0)
    },
  )

  promise(
    'PATCH /api/notifications/:id/read without a body returns 204 without a body',
    async () => {
      const { ids, proof } = await reader(2)
      const response = await app.patch(`/api/notifications/${ids[0]}/read`, proof)
      assert.deepEqual(
        [response.status, response.text, response.headers.get('content-type')],
        [204, '', null],
      )
      assert.deepEqual(await readStates(proof), [false, true])
    },
  )

  promise('the five paths of the spec exist only in their exact spelling', async () => {
    const proof = await signedIn()
    const others: [string, string][] = [
      ['GET', '/routerestreinte'],
      ['GET', '/api/routeRestreinte'],
      ['POST', '/Login'],
      ['GET', '/notifications'],
      ['POST', '/api/notifications/readAll'],
      ['PATCH', '/api/notifications/read-all'],
    ]
    for (const [method, path] of others) {
      const { status } = await app.request(path, { method, headers: proof })
      assert.ok(status === 404 || status === 405, `${method} ${path} returned ${status}`)
    }
  })

  promise('hasMore is true exactly if page * limit < total', async () => {
    const { proof } = await reader(6)
    for (const limit of [1, 2, 3, 4, 5, 6, 7, 100])
      for (const page of [1, 2, 3, 6, 7]) {
        const { hasMore, total } = await app.list(proof, `?page=${page}&limit=${limit}`)
        assert.equal(hasMore, page * limit < total, `page ${page}, limit ${limit}`)
      }
  })

  promise('total counts the caller’s notifications, and items has the requested page', async () => {
    const { ids, proof } = await reader(5)
    await reader(3)
    const newestFirst = ids.toReversed()
    for (const page of [1, 2, 3, 4]) {
      const { items, total } = await app.list(proof, `?page=${page}&limit=2`)
      assert.equal(total, 5)
      assert.deepEqual(
        items.map(({ id }) => id),
        newestFirst.slice((page - 1) * 2, page * 2),
      )
    }
  })

  promise('each notification endpoint returns 401 without a signed-in user', async () => {
    const { ids, proof } = await reader(1)
    const responses = [
      await app.get('/api/notifications'),
      await app.post('/api/notifications/read-all'),
      await app.patch(`/api/notifications/${ids[0]}/read`),
    ]
    for (const response of responses) isUnauthorized(response, 'UNAUTHORIZED', 'Not authenticated')
    assert.equal((await app.list(proof)).unread, 1)
  })

  // Authentication

  promise('login is POST /login; GET /login returns 405', async () => {
    const { username, password } = ann
    const response = await app.get(`/login?${new URLSearchParams({ username, password })}`)
    assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST'])
    assert.equal((await login(ann)).status, 200)
  })

  promise(
    'the server checks the session of a cookie, and needs no session for a token',
    async () => {
      const proof = await signedIn()
      await app.restart()
      assert.equal((await app.get('/routeRestreinte', proof)).status, 200)
      await app.database.change('delete from session')
      const { status } = await app.get('/routeRestreinte', proof)
      assert.equal(status, variant === 'stateful' ? 401 : 200)
    },
  )

  // Errors

  promise('every error has a code, an HTTP status and a message', async () => {
    const proof = await signedIn()
    const responses = await Promise.all([
      app.get('/routeRestreinte'),
      app.get('/nowhere'),
      app.get('/api/notifications?page=0', proof),
      app.patch('/api/notifications/7/read', proof),
      app.request('/login', { method: 'PUT' }),
      app.request('/login', {
        method: 'POST',
        body: '{',
        headers: { 'content-type': 'application/json' },
      }),
    ])
    for (const response of responses) {
      const { success, error } = response.json()
      assert.equal(success, false)
      assert.match(error.code, /^[A-Za-z_]+$/)
      assert.equal(error.status, response.status)
      assert.ok(error.message.length > 0)
    }
  })

  // Limits and versioning

  promise('page and limit select a part of the list, and both have a default', async () => {
    const { proof } = await reader(21)
    assert.equal((await app.list(proof)).items.length, 20)
    assert.equal((await app.list(proof, '?page=2')).items.length, 1)
    assert.equal((await app.list(proof, '?limit=21')).items.length, 21)
  })
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
