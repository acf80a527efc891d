// 150 addresses attack one account, in both variants, on one process with SQLite and two with
// PostgreSQL. The nodes share the counts, a restart keeps them, and the owner signs in on a known
// device (A9, A10).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Engine, engines, type Node, Nodes } from '../../support/processes/nodes.ts'
import { type Variant, variants } from '../../support/service.ts'

const proxies = { CARILLON_TRUSTED_PROXIES: '127.0.0.1' }
const attackers = 150

class Cluster {
  readonly #nodes: Nodes
  readonly #all: readonly Node[]

  private constructor(nodes: Nodes, all: readonly Node[]) {
    this.#nodes = nodes
    this.#all = all
  }

  static async on(engine: Engine): Promise<Cluster> {
    const nodes = await Nodes.on(engine, { settings: proxies })
    after(() => nodes[Symbol.asyncDispose]())
    const all = [await nodes.add()]
    if (engine === 'PostgreSQL') all.push(await nodes.add())
    return new Cluster(nodes, all)
  }

  get owner() {
    return this.#nodes.firstSignIn
  }

  urlOf(n: number): string {
    return this.urls[n % this.urls.length] ?? ''
  }

  get urls(): string[] {
    return this.#all.map(({ url }) => url)
  }

  async restart(): Promise<void> {
    for (const node of this.#all) {
      await node.process.end('SIGTERM')
      await node.again()
    }
  }
}

for (const engine of engines)
  for (const variant of variants)
    test(`of 150 guesses at one account from 150 addresses at most 100 are evaluated, on every node together, and the owner signs in on a known device meanwhile (${engine}, ${variant}, A9, A10)`, async (t) => {
      const cluster = await Cluster.on(engine)
      const { username, password } = cluster.owner
      const known = await new Device(variant, cluster).signedIn()
      const guess = async (n: number) => {
        const { status } = await login(cluster.urlOf(n), `198.18.7.${n}`, {
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
      for (const url of cluster.urls) {
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
    const { cookie = '', deviceToken } = this.#sent
    const { username, password } = this.#cluster.owner
    const body = {
      username,
      password,
      variant: this.#variant,
      ...(deviceToken !== undefined && { deviceToken }),
    }
    const response = await login(this.#cluster.urlOf(this.#logins++), '198.18.1.1', {
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
