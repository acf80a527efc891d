// The same work by other programs, from the npm registry: users list their newest 20 of 1,000 notifications, and a server creates one.
// All on one PostgreSQL, in turns with Carillon on it; beside them Carillon on SQLite. Only on request: it installs their packages.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { asLoad, rate, requestsOf } from '../floors/compare.ts'
import { type Loaded, Loader } from '../load/loader.ts'
import { requestText } from '../load/requests.ts'
import { betterAuth } from '../peers/better-auth.ts'
import { directus } from '../peers/directus.ts'
import { express } from '../peers/express.ts'
import { install } from '../peers/install.ts'
import { parse } from '../peers/parse.ts'
import { content, type Peer, type PeerWork, type Running } from '../peers/peer.ts'
import { inTurns, median, ratios } from '../report/rounds.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asRatio, type Row } from '../report/table.ts'
import { fillDatabase } from '../setup/fill.ts'
import { type Prepared, prepareReadersAt, urlIn } from '../setup/inboxes.ts'
import { type Database, settingsNote, startDatabase } from '../setup/postgres.ts'
import { startService } from '../setup/service.ts'
import { firstPage } from './list.ts'

const others: readonly Peer[] = [express, betterAuth, parse, directus]
const users = 100
const inboxSize = 1_000
const connections = 64
const restMs = 1_000

/** A program whose database is filled. */
type Contender = { name: string; work: PeerWork; start(): Promise<Running> }
type Sample = { startMs: number; restMb: number; list: Loaded; deliver: Loaded; loadedMb: number }

export const peers: Scenario = {
  name: 'peers',
  question: 'the same list and delivery by Express, better-auth, Parse and Directus; installs them below data/',
  isOnRequest: true,
  async run(bench) {
    const folders = new Map<Peer, string>()
    for (const peer of others) folders.set(peer, await install(peer, bench.progress))
    const database = await startDatabase(bench, 'anywhere')
    const contenders = [await carillonOnPostgres(bench, database), await carillonOnSqlite(bench)]
    for (const peer of others)
      contenders.push(await prepare(bench, { peer, folder: folders.get(peer) as string, database }))
    const loader = bench.using(new Loader('anywhere', database.processorUs))
    const all = await inTurns<string, Sample>(bench, {
      contenders: Object.fromEntries(contenders.map((one) => [one.name, () => measure(bench, { loader, ...one })])),
    })
    const floor = all[contenders[0]?.name as string] as Sample[]
    return {
      rows: rowsOf(contenders.map(({ name }) => ({ name, of: all[name] as Sample[], floor }))),
      notes: [
        `PostgreSQL ${database.version}. ${settingsNote}`,
        `${users} users with ${inboxSize} notifications each; ${connections} connections, all cores; each response of a delivery after its ` +
          'commit. A list has 20 notifications, how many there are, and how many are unread (Parse and Directus: only how many there are).',
        'The floor is Carillon on PostgreSQL, and a ratio below 1 is slower than that: requests per second, its time, and its memory ' +
          'divided by that of the peer. CPU: of the program, without PostgreSQL.',
        `Peers: ${others.map(({ name, packages }) => `${name} (${versionsOf(packages)})`).join('; ')}. Their packages are in data/peers/.`,
        'Memory: resident, 1 s after the start, and 1 s after the load. Start: until the first response, with a database that exists. Both ' +
          'with what the bench loads into every program to read its processor time.',
      ],
    }
  },
}

function versionsOf(packages: Readonly<Record<string, string>>): string {
  return Object.entries(packages)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ')
}

async function prepare(
  { progress }: Bench,
  { peer, folder, database }: { peer: Peer; folder: string; database: Database },
): Promise<Contender> {
  progress(`filling ${peer.name}`)
  const on = { folder, database: await database.another(peer.folder.replace('-', '_')), users, inboxSize }
  const work = await peer.prepare(on)
  return { name: peer.name, work, start: () => peer.start(on) }
}

async function carillonOnPostgres(bench: Bench, { url }: Database): Promise<Contender> {
  const { checkout, dir, progress } = bench
  progress('filling Carillon')
  const work = await fillCarillon(bench, url)
  const env = { CARILLON_DATABASE_URL: url }
  return { name: 'Carillon on PostgreSQL', work, start: () => startService({ checkout, dir, env, role: 'anywhere' }) }
}

async function carillonOnSqlite(bench: Bench): Promise<Contender> {
  const { checkout } = bench
  const dir = join(bench.dir, 'sqlite')
  mkdirSync(dir)
  const work = await fillCarillon(bench, urlIn(dir))
  return { name: 'Carillon on SQLite', work, start: () => startService({ checkout, dir, role: 'anywhere' }) }
}

async function fillCarillon({ checkout }: Bench, url: string): Promise<PeerWork> {
  const prepared: Prepared = await prepareReadersAt(checkout, url, { users, proofs: 1 })
  const { readers, producer } = prepared
  await fillDatabase(checkout, url, { userIds: readers.map(({ userId }) => userId), count: inboxSize })
  const deliveryTo = (username: string) =>
    requestText('POST', '/api/notifications', {
      proof: producer,
      body: JSON.stringify({ recipients: [{ username }], ...content }),
    })
  return {
    lists: requestsOf(readers, 'cookies', firstPage),
    deliveries: readers.map(({ username }) => deliveryTo(username)),
  }
}

async function measure({ seconds }: Bench, { loader, work, start }: Contender & { loader: Loader }): Promise<Sample> {
  const running = await start()
  const memory = async () => {
    await pause(restMs)
    return (await running.process.request<number>({ about: 'memory' })) / 1e6
  }
  const load = { port: running.port, connections, seconds, warmUpSeconds: seconds / 2 }
  const restMb = await memory()
  const list = await loader.measure(running.process, { ...load, requests: work.lists, status: 200 })
  const deliver = await loader.measure(running.process, {
    ...load,
    requests: work.deliveries,
    status: work.created ?? 201,
  })
  const loadedMb = await memory()
  await running.stop()
  return { startMs: running.startedInMs, restMb, list, deliver, loadedMb }
}

type Taken = readonly { name: string; of: Sample[]; floor: Sample[] }[]

function rowsOf(taken: Taken): Row[] {
  return [
    ...taken.map((one) => loadRow('list', one, ({ list }) => list)),
    ...taken.map((one) => loadRow('delivery', one, ({ deliver }) => deliver)),
    ...taken.map((one) => costRow('start', one, { pick: ({ startMs }) => startMs, unit: 'ms' })),
    ...taken.map((one) => costRow('memory after the start', one, { pick: ({ restMb }) => restMb, unit: 'MB' })),
    ...taken.map((one) => costRow('memory after the load', one, { pick: ({ loadedMb }) => loadedMb, unit: 'MB' })),
  ]
}

function loadRow(what: string, { name, of, floor }: Taken[number], pick: (sample: Sample) => Loaded): Row {
  const figures = of.map((sample) => rate(pick(sample)))
  const floors = floor.map((sample) => rate(pick(sample)))
  const ratio = asRatio(ratios(figures, floors))
  return {
    ...untargeted,
    what: `${what}: ${name}`,
    measured: asLoad(of.map(pick)),
    floor: asLoad(floor.map(pick)),
    ratio,
    figures,
  }
}

type Cost = { pick: (sample: Sample) => number; unit: string }

function costRow(what: string, { name, of, floor }: Taken[number], { pick, unit }: Cost): Row {
  const [figures, floors] = [of.map(pick), floor.map(pick)]
  const display = (values: number[]) => `${median(values).toFixed(0)} ${unit}`
  const ratio = asRatio(ratios(floors, figures))
  return { ...untargeted, what: `${what}: ${name}`, measured: display(figures), floor: display(floors), ratio, figures }
}

const untargeted = { target: '', met: undefined } as const
