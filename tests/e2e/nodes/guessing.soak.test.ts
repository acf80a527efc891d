// 150 addresses attack one account, in both variants, on one process with SQLite and two with
// PostgreSQL. The nodes share the counts, a restart keeps them, and the owner signs in on a known
// device (A9, A10).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newDatabase } from '../../support/postgres.ts'
import {
  CarillonProcess,
  type Environment,
  Folder,
  firstSignInOf,
} from '../../support/processes/carillon-process.ts'
import { Nodes } from '../../support/processes/nodes.ts'
import { type Variant, variants } from '../../support/service.ts'

const proxies: Environment = { CARILLON_TRUSTED_PROXIES: '127.0.0.1' }
const attackers = 150

type Cluster = {
  urls(): string[]
  owner: { username: string; password: string }
  restart(): Promise<void>
}

async function onSqlite(): Promise<Cluster> {
  const folder = new Folder()
  let running = await CarillonProcess.ready(folder, { env: proxies })
  after(async () => {
    await running[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })
  return {
    urls: () => [running.url],
    owner: firstSignInOf(folder),
    async restart() {
      await running.end('SIGTERM')
      running = await CarillonProcess.ready(folder, { env: proxies })
    },
  }
}

async function onPostgres(): Promise<Cluster> {
  const database = await newDatabase()
  const nodes = new Nodes(database.url, proxies)
  after(async () => {
    await nodes[Symbol.asyncDispose]()
    await database.drop()
  })
  const both = [await nodes.add(), await nodes.add()]
  return {
    urls: () => both.map(({ url }) => url),
    owner: nodes.firstSignIn,
    async restart() {
      for (const node of both) {
        await node.process.end('SIGTERM')
        await node.again()
      }
    },
  }
}

for (const [engine, start] of Object.entries({ SQLite: onSqlite, PostgreSQL: onPostgres }))
  for (const variant of variants)
    test(`of 150 guesses at one account from 150 addresses at most 100 are evaluated, on every node together, and the owner signs in on a known device meanwhile (${engine}, ${variant}, A9, A10)`, async (t) => {
      const cluster = await start()
      const { username, password } = cluster.owner
      const known = await new Device(variant, cluster).signedIn()
      const guess = async (n: number) => {
        const urls = cluster.urls()
        const { status } = await login(urls[n % urls.length] ?? '', `198.18.7.${n}`, {
          body: { username, password: `guess number ${n}`, variant: variants[n % 2] as Variant },
        })
        return status
      }
      const statuses: number[] = []
      for (let n = 0; n < attackers; n += 10) {
        statuses.push(...(await Promise.all(Array.from({ length: 10 }, (_, i) => guess(n + i)))))
        assert.equal(await known.login(), 200, `during the attack, after ${n}`)
      }
      const evaluated = statuses.filter((status) => status === 401).length
      t.diagnostic(`${evaluated} of ${attackers} were evaluated`)
      assert.ok(evaluated >= 5 && evaluated <= 100, `${evaluated}`)
      assert.deepEqual([...new Set(statuses)].toSorted(), [401, 429])
      await cluster.restart()
      // After one more failure none is free: the restart kept the counts.
      while ((await guess(attackers)) !== 401) await sleep(200)
      for (const url of cluster.urls()) {
        const { status, headers } = await login(url, '198.18.9.9', {
          body: { username, password, variant },
        })
        assert.equal(status, 429, 'an unknown device is delayed after the restart, on every node')
        assert.ok(Number(headers.get('retry-after')) >= 1)
      }
      assert.equal(await known.login(), 200, 'a known device is not')
    })

function login(
  url: string,
  address: string,
  { body, cookie = '' }: { body: object; cookie?: string },
) {
  const headers = {
    'content-type': 'application/json',
    'x-forwarded-for': address,
    ...(cookie !== '' && { cookie }),
  }
  return fetch(`${url}/login`, { method: 'POST', body: JSON.stringify(body), headers })
}

/** The owner uses another node each time. */
class Device {
  readonly #variant: Variant
  readonly #cluster: Cluster
  #sent: { deviceToken?: string; cookie?: string } = {}
  #logins = 0

  constructor(variant: Variant, cluster: Cluster) {
    this.#variant = variant
    this.#cluster = cluster
  }

  async signedIn(): Promise<this> {
    assert.equal(await this.login(), 200)
    return this
  }

  async login(): Promise<number> {
    const urls = this.#cluster.urls()
    const { cookie = '', deviceToken } = this.#sent
    const { username, password } = this.#cluster.owner
    const body = {
      username,
      password,
      variant: this.#variant,
      ...(deviceToken !== undefined && { deviceToken }),
    }
    const response = await login(urls[this.#logins++ % urls.length] ?? '', '198.18.1.1', {
      body,
      cookie,
    })
    const cookies = response.headers.getSetCookie().map((line) => line.split(';')[0])
    if (response.status !== 200) return response.status
    if (this.#variant === 'stateful') this.#sent = { cookie: cookies.join('; ') }
    else
      this.#sent = { deviceToken: ((await response.json()) as { deviceToken: string }).deviceToken }
    return 200
  }
}
