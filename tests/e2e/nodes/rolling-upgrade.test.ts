// Nodes of two versions serve one database, and no request fails while the new one starts, migrates
// and creates its database functions. Until the tag 0.1.0, the old version is this commit and the
// new one is invented; from then on the old one is the package of the last release
// (docs/release.md).
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EventReader } from '../../support/event-source/event-source.ts'
import { queryAt } from '../../support/postgres.ts'
import { carillonJson, Folder } from '../../support/processes/carillon-process.ts'
import { copyOfProgram, migrationFiles } from '../../support/processes/copy-of-program.ts'
import { type Node, Nodes, untilSo } from '../../support/processes/nodes.ts'
import { idIn, type SignIn, type UserOfService } from '../../support/processes/user-of-service.ts'
import type { HttpResponse } from '../../support/service.ts'
import { soakTest } from '../../support/soak.ts'

const nextVersion = '99.0.0'
/** A function that requests call gets another text. */
const [functionsFile = ''] = globSync('server/store/postgres/functions/*.sql')
const changedFunction = readFileSync(functionsFile, 'utf8').replace(
  /^begin\n/m,
  'begin\n  -- The text of the next version.\n',
)
const upgrades: Record<string, Upgrade> = {
  'with a migration and other functions': {
    files: {
      ...migrationFiles('postgres', '-- locks: inbox\nalter table inbox add column invented text;'),
      'store/postgres/functions/zebra.sql': changedFunction,
    },
    restarted: 'is refused',
  },
  'with other functions alone': {
    files: { 'store/postgres/functions/zebra.sql': changedFunction },
    restarted: 'serves, and leaves the functions',
  },
}
/** `restarted`: what a node of the old version does that starts after the first of the new one. */
type Upgrade = {
  files: Record<string, string>
  restarted: 'is refused' | 'serves, and leaves the functions'
}

// functions.test.ts proves what a node of the old version does with newer functions.
for (const [what, upgrade] of Object.entries(upgrades))
  (upgrade.restarted === 'is refused' ? test : soakTest)(
    `R9: a rolling upgrade ${what}, under load: 0 failed requests on both versions, and an old node that restarts ${upgrade.restarted}`,
    async (t) => {
      let tries = 1
      while (!(await goesUnnoticed(t, { upgrade, isLast: tries === 3 }))) tries++
    },
  )

/**
 * Returns false if the machine paused: a service waits two seconds for a connection to the
 * database, and four for a response.
 */
async function goesUnnoticed(
  t: TestContext,
  { upgrade: { files, restarted }, isLast }: { upgrade: Upgrade; isLast: boolean },
): Promise<boolean> {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  using newProgram = new Folder()
  const old = {}
  const next = { launcher: copyOfProgram(newProgram, { version: nextVersion, files }) }
  await using nodes = await Nodes.on('PostgreSQL', { isBare: true })
  const before = await nodes.add(old)
  const functionsBefore = await functionsOf(nodes.databaseUrl)
  const key = await keyOf(nodes)
  await using load = new Load(nodes.firstSignIn, nodes.databaseUrl)
  using streamBefore = await load.streamOf(before)
  load.startOn(before, 'the old version')
  await load.moreRounds(3)

  const current = await nodes.add(next)
  const functions = await functionsOf(nodes.databaseUrl)
  assert.notEqual(functions, functionsBefore, 'the new version created its functions')
  using streamCurrent = await load.streamOf(current)
  const sentBefore = load.sent.length
  load.startOn(current, 'the new version', load.newRequests(key))
  await load.moreRounds(3)
  // The old version does not know the migration. The nodes that run are not affected.
  const late = await nodes.begin(old)
  if (restarted === 'is refused')
    await assert.rejects(late.process.isReady(), /was written by a newer Carillon/)
  else await late.isReady()
  assert.equal(await functionsOf(nodes.databaseUrl), functions)
  await load.moreRounds(3)
  await load.stop()

  delay.disable()
  if (load.failures.length > 0 && delay.max > 1.5e9 && !isLast) return false
  t.diagnostic(JSON.stringify([...load.counts]))
  assert.deepEqual(
    load.failures,
    [],
    `a request failed; ${load.failures.join('; ')}; errors of the old version: ${errorsOf(before)}`,
  )
  const kinds = 2 * Object.keys(load.requests).length + Object.keys(load.newRequests(key)).length
  assert.equal(load.counts.size, kinds, 'each node served each kind of request')
  const reader = current.user(nodes.firstSignIn)
  const titles = (await reader.inbox(await reader.signIn())).map(({ title }) => title)
  assert.deepEqual(titles.sort(), [...load.sent, 'Sent again', 'Welcome to Carillon'].sort())
  // Each version receives the change signals of the other: both streams send what was delivered on every node.
  await receives(streamBefore, load.sent)
  await receives(streamCurrent, load.sent.slice(sentBefore))
  return true
}

function errorsOf(node: Node): string {
  return JSON.stringify(node.process.lines.filter(({ level }) => Number(level) >= 50))
}

async function functionsOf(url: string): Promise<string> {
  const { rows } = await queryAt(
    url,
    "select obj_description('migration'::regclass, 'pg_class') as label",
  )
  return rows[0].label
}

async function receives(stream: EventReader, titles: readonly string[]): Promise<void> {
  const missing = () => {
    const received = new Set(stream.events.map(({ data }) => data.notification?.title))
    return titles.filter((title) => !received.has(title))
  }
  await untilSo(async () => missing().length === 0, 30_000).catch(() =>
    assert.deepEqual(missing(), []),
  )
}

/** The key may create users. */
async function keyOf({ folder, environment: env }: Nodes): Promise<string> {
  const args = ['key', 'add', 'app', '--scope', 'send,users']
  return (await carillonJson(folder, args, { env })).key
}

type Requests = Record<string, (user: UserOfService, proofs: Proofs) => Promise<HttpResponse>>
type Proofs = { session: Record<string, string>; token: Record<string, string> }

/**
 * Sends each kind of request to each of its nodes, one after another on each node, until it is
 * stopped.
 */
class Load implements AsyncDisposable {
  readonly counts = new Map<string, number>()
  readonly failures: string[] = []
  readonly sent: string[] = []
  /** The new version created them without a username. */
  readonly people: string[] = []
  readonly #signIn: SignIn
  readonly #databaseUrl: string
  readonly #loops: Promise<void>[] = []
  readonly #rounds: number[] = []
  #isOver = false

  constructor(signIn: SignIn, databaseUrl: string) {
    this.#signIn = signIn
    this.#databaseUrl = databaseUrl
  }

  readonly requests: Requests = {
    // Signs out, too: at the limit of sessions, the oldest would end, with which the other requests are sent.
    'sign-in with a session': async (user) => {
      const response = await this.#login(user, 'stateful')
      const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
      await user.request({ method: 'POST', path: '/logout', headers: { cookie } })
      return response
    },
    'sign-in with a token': (user) => this.#login(user, 'stateless'),
    'sign-out': async (user) =>
      user.request({ method: 'POST', path: '/logout', headers: await user.signIn('stateful') }),
    'list with a session': (user, { session }) =>
      user.request({ path: '/api/notifications', headers: session }),
    'list with a token': (user, { token }) =>
      user.request({ path: '/api/notifications', headers: token }),
    'delivery and read': async (user, { token }) => {
      const id = idIn(await this.#deliver(user))
      return user.request({
        method: 'PATCH',
        path: `/api/notifications/${id}/read`,
        headers: token,
      })
    },
    'delivery by id': (user) => {
      const { username, key } = this.#signIn
      const userId = this.people.at(-1)
      const recipients = [userId === undefined ? { username } : { userId }]
      const title = `Number ${this.sent.length}`
      if (userId === undefined) this.sent.push(title)
      return user.post(
        '/api/notifications',
        { recipients, title },
        { authorization: `Bearer ${key}` },
      )
    },
    'read-all': (user, { session }) => user.post('/api/notifications/read-all', {}, session),
    changes: (user, { session }) =>
      user.request({ path: '/api/notifications/changes?since=0', headers: session }),
  }

  /** What is new: on the new version alone. The old one then delivers to users that have no username. */
  newRequests(key: string): Requests {
    const send = (user: UserOfService, body: object) =>
      user.post('/api/notifications', body, { authorization: `Bearer ${key}` })
    return {
      'delivery that creates a user': async (user) => {
        const recipients = [{ externalId: `person ${this.people.length}` }]
        const response = await send(user, { recipients, title: 'First' })
        this.people.push(response.json().data.results[0].userId)
        return response
      },
      'delivery again': (user) => {
        const { username } = this.#signIn
        return send(user, {
          recipients: [{ username }],
          title: 'Sent again',
          key: 'renotify',
          renotify: true,
        })
      },
    }
  }

  startOn(node: Node, name: string, more: Requests = {}): void {
    this.#loops.push(this.#loop(node.user(this.#signIn), name, { ...this.requests, ...more }))
  }

  async streamOf(node: Node): Promise<EventReader> {
    return EventReader.of(node.url, await node.user(this.#signIn).signIn())
  }

  /** Waits until each node has served each kind of request `count` more times. */
  async moreRounds(count: number): Promise<void> {
    const aims = this.#rounds.map((rounds) => rounds + count)
    const isBehind = () =>
      this.failures.length === 0 && aims.some((aim, loop) => (this.#rounds[loop] ?? 0) < aim)
    while (isBehind()) await sleep(10)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#loops)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #loop(user: UserOfService, name: string, requests: Requests): Promise<void> {
    const loop = this.#rounds.push(0) - 1
    const proofs = {
      session: await user.signIn('stateful'),
      token: await user.signIn('stateless'),
    } as Proofs
    for (; !this.#isOver; this.#rounds[loop] = (this.#rounds[loop] ?? 0) + 1) {
      // One user signs in more often than one network may.
      await queryAt(this.#databaseUrl, 'delete from guess_count')
      for (const [kind, send] of Object.entries(requests)) {
        const outcome = await send(user, proofs).then(
          ({ status, text }) => (status < 300 ? 'ok' : `${status} ${text}`),
          (error: unknown) => String(error),
        )
        if (outcome === 'ok')
          this.counts.set(`${name}: ${kind}`, (this.counts.get(`${name}: ${kind}`) ?? 0) + 1)
        else this.failures.push(`${name}: ${kind}: ${outcome}`)
      }
    }
  }

  #login(user: UserOfService, variant: string): Promise<HttpResponse> {
    const { username, password } = this.#signIn
    return user.post('/login', { username, password, variant })
  }

  #deliver(user: UserOfService): Promise<HttpResponse> {
    const title = `Number ${this.sent.length}`
    this.sent.push(title)
    return user.deliver(title)
  }
}
