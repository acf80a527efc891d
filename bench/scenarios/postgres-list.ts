// Lists per second from PostgreSQL: the first page of an unchanged inbox costs one round trip, so its floor is a bare server
// that makes the same round trip; and pages that were not rendered before.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { asLoad, assertSameResponse, floorRow, isDisturbed, requestsOf, type Server } from '../floors/compare.ts'
import type { FloorRequest } from '../floors/postgres-floor.ts'
import { type Load, type Loaded, Loader } from '../load/loader.ts'
import { type HttpResponse, type ProofLine, request } from '../load/requests.ts'
import { BenchProcess } from '../processes/processes.ts'
import { inTurns, median, ratios } from '../report/rounds.ts'
import type { Bench, Scenario } from '../report/scenario.ts'
import { asMs, asRatio, type Row } from '../report/table.ts'
import { fillDatabase } from '../setup/fill.ts'
import { prepareReadersAt, type Reader } from '../setup/inboxes.ts'
import { type Database, settingsNote, startDatabase, startServiceOn } from '../setup/postgres.ts'
import type { Service } from '../setup/service.ts'
import { firstPage, inboxSize, limit, placesOf } from './list.ts'

type Kind = 'cookies' | 'tokens'

const connections = 64
const minShare = 0.8

export const postgresList: Scenario = {
  name: 'postgres-list',
  question: 'the list from PostgreSQL, compared with a bare node:http server that makes the same round trip',
  async run(bench) {
    const { checkout, dir, seconds, progress } = bench
    const database = await startDatabase(bench, 'load')
    progress('making 100 inboxes of 1,000 notifications and 2,000 proofs')
    const { readers } = await prepareReadersAt(checkout, database.url, { users: 100, proofs: 10 })
    const userIds = readers.map(({ userId }) => userId)
    await fillDatabase(checkout, database.url, { userIds, count: inboxSize, readThrough: 900 })
    const loader = bench.using(new Loader('load', database.processorUs))
    const service = bench.using(await startServiceOn(database, { checkout, dir }))
    const known = {
      cookies: requestsOf(readers, 'cookies', firstPage),
      tokens: requestsOf(readers, 'tokens', firstPage),
    }
    const suffix = { service, database, readers }
    const floors = {
      cookies: await startFloor(bench, suffix, 'cookies'),
      tokens: await startFloor(bench, suffix, 'tokens'),
    }

    // The load sleeps while it waits, since PostgreSQL shares its core.
    const loadOn = (server: Server, load: Pick<Load, 'requests' | 'isOnce' | 'warmUpSeconds'>) =>
      loader.measure(server.process, { port: server.port, connections, status: 200, seconds, ...load })
    const loadOnFresh = async (kind: Kind) => {
      const fresh = await startServiceOn(database, { checkout, dir })
      const count = seconds * 20_000
      await loadOn(fresh, {
        requests: placesOf(readers, kind, limit + 1).slice(0, count),
        isOnce: true,
        warmUpSeconds: 0,
      })
      const requests = placesOf(readers, kind, limit).slice(0, count)
      const loaded = await loadOn(fresh, { requests, isOnce: true, warmUpSeconds: 0 })
      await fresh.stop()
      return loaded
    }
    const loadOnKnown = (server: Server, kind: Kind) => () =>
      loadOn(server, { requests: known[kind], warmUpSeconds: seconds / 4 })
    const all = await inTurns(bench, {
      isDisturbed,
      contenders: {
        'known by cookie': loadOnKnown(service, 'cookies'),
        'floor of cookies': loadOnKnown(floors.cookies, 'cookies'),
        'known by token': loadOnKnown(service, 'tokens'),
        'floor of tokens': loadOnKnown(floors.tokens, 'tokens'),
        'not rendered by cookie': () => loadOnFresh('cookies'),
        'not rendered by token': () => loadOnFresh('tokens'),
      },
    })
    const row = (what: string, of: keyof typeof all, floor: keyof typeof all) =>
      floorRow({ what, of: all[of], floor: all[floor], target: minShare })
    return {
      rows: [
        row('list from PostgreSQL, inbox unchanged, cookie', 'known by cookie', 'floor of cookies'),
        row('list from PostgreSQL, inbox unchanged, token', 'known by token', 'floor of tokens'),
        freshRow('list from PostgreSQL, page not rendered before, cookie', all['not rendered by cookie']),
        freshRow('list from PostgreSQL, page not rendered before, token', all['not rendered by token']),
      ],
      notes: [
        `PostgreSQL ${database.version}. ${settingsNote}`,
        'The floor: bare `node:http`, the same statement by the same name through the same kind of pool, the same bytes. For ' +
          "a cookie it is the one that finds the session with the inbox's version, for a token the one that finds the version.",
        `${connections} connections; 20 of 1,000 notifications, some 7 KB; 1,000 proofs of 100 users. Page not rendered ` +
          'before: by `before=`, each once, from a service that has just started.',
        costs('cookie', all['known by cookie'], all['floor of cookies']),
        costs('token', all['known by token'], all['floor of tokens']),
        busy(all),
      ],
    }
  },
}

type Comparison = { service: Service; database: Database; readers: readonly Reader[] }

async function startFloor(bench: Bench, { service, database, readers }: Comparison, kind: Kind): Promise<Server> {
  const texts = requestsOf(readers, kind, firstPage)
  const responses = await Promise.all(texts.slice(0, readers.length).map((text) => request(service.port, text)))
  for (const { status, body } of responses) assert.equal(status, 200, body)
  const process = bench.using(
    new BenchProcess({
      args: [fileURLToPath(new URL('../floors/postgres-floor.ts', import.meta.url))],
      role: 'server',
    }),
  )
  const name = kind === 'cookies' ? 'session' : 'inbox'
  const values = readers[0]?.[kind].flatMap((_, i) =>
    readers.map((reader) =>
      kind === 'cookies' ? [reader.userId, hashIn(reader.cookies[i] as string)] : [reader.userId],
    ),
  )
  const { port } = await process.request<{ port: number }>({
    url: database.url,
    name,
    values,
    responses,
  } as FloorRequest)
  assertSameResponse(await request(port, texts[0] as string), responses[0] as HttpResponse)
  return { port, process }
}

/** The hash by which the store finds the session of a cookie. */
function hashIn(cookie: ProofLine): string {
  return hash('sha256', cookie.slice(cookie.indexOf('=') + 1), 'base64url')
}

function freshRow(what: string, samples: readonly Loaded[]): Row {
  const database = median(samples.map(({ databaseShare }) => databaseShare)).toFixed(2)
  return {
    what,
    measured: `${asLoad(samples)}, PostgreSQL ${database}`,
    floor: '',
    ratio: '',
    target: '',
    met: undefined,
  }
}

/** The same ratio by processor time, which counts if the server's core was not the limit. */
function costs(kind: string, of: readonly Loaded[], floor: readonly Loaded[]): string {
  const costsOf = (samples: readonly Loaded[]) =>
    samples.map(({ serverShare, perSecond }) => (serverShare / perSecond) * 1e6)
  const [own, bare] = [costsOf(of), costsOf(floor)]
  return (
    `By the server's processor time for a request, ${kind}: ${asMs(median(own) / 1000)}, floor ${asMs(median(bare) / 1000)}, ` +
    `ratio ${asRatio(ratios(bare, own))}.`
  )
}

/** Shows which of the two cores was the limit. */
function busy(all: Record<string, readonly Loaded[]>): string {
  const samples = Object.values(all).flat()
  const of = (pick: (sample: Loaded) => number) => median(samples.map(pick)).toFixed(2)
  return (
    `Shares of one core: the server used ${of((sample) => sample.serverShare)}; on the other core the load used ` +
    `${of((sample) => sample.processorShare)} and PostgreSQL ${of((sample) => sample.databaseShare)} (medians); other ` +
    `programs at most ${Math.max(...samples.map((sample) => sample.otherProgramsShare)).toFixed(2)}.`
  )
}
