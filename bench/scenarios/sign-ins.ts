// Sign-ins by password per second, and their effect on users who are already signed in.
import { Passwords } from '../../server/sign-in/password/passwords.ts'
import { asLoad, rate, requestsOf } from '../floors/compare.ts'
import { signInsUnderFlood } from '../load/flooded-sign-ins.ts'
import { type Loaded, Loader } from '../load/loader.ts'
import { type ProofLine, requestText } from '../load/requests.ts'
import { inTurns, median, type Samples } from '../report/rounds.ts'
import type { Scenario } from '../report/scenario.ts'
import { asMs, type Row } from '../report/table.ts'
import { fillInboxes, prepareReaders } from '../setup/inboxes.ts'
import { startService } from '../setup/service.ts'

const minPerSecond = 100
const maxMs = 10
const maxUnderFloodMs = 1_000
const password = 'plum orchard gate 41'

export const signIns: Scenario = {
  name: 'sign-ins',
  question: 'sign-ins by password per second, and the p99 of other requests at the same time',
  async run(bench) {
    const { checkout, dir, rounds, seconds } = bench
    const passwordHash = await new Passwords({ threads: 4 }).hash(password)
    const { readers } = await prepareReaders(bench, { users: 100, proofs: 10, passwordHash })
    await fillInboxes(bench, { userIds: readers.map(({ userId }) => userId), count: 1_000 })
    const service = bench.using(
      await startService({ checkout, dir, role: 'anywhere', env: { CARILLON_TRUSTED_PROXIES: '127.0.0.1' } }),
    )
    const [signer, lister] = [bench.using(new Loader('anywhere')), bench.using(new Loader('anywhere'))]
    const on = { port: service.port, status: 200, seconds }
    const logins = readers.map(({ username }) =>
      requestText('POST', '/login', { body: JSON.stringify({ username, password }) }),
    )
    const lists = requestsOf(readers, 'cookies', listed)
    const listQuietly = () =>
      lister.measure(service.process, { ...on, connections: 8, everyMs: 40, requests: lists, warmUpSeconds: 0.7 })
    const signIn = () =>
      signer.measure(service.process, { ...on, connections: 16, requests: logins, warmUpSeconds: 0.7 })
    const taken = await inTurns<'quiet' | 'busy', Sample>(bench, {
      contenders: {
        quiet: async () => ({ present: await listQuietly(), arriving: undefined }),
        busy: async () => {
          const [seen, done] = await Promise.all([listQuietly(), signIn()])
          return { present: seen, arriving: done }
        },
      },
    })
    const flooded: number[][] = []
    for (let round = 0; round < rounds; round++)
      flooded.push(
        await signInsUnderFlood(
          service.port,
          readers.map(({ username }) => ({ username, password })),
        ),
      )
    return {
      rows: [...rows(taken), floodedRow(flooded)],
      notes: [
        'On all cores: hashing uses two threads of the pool. 16 users sign in at once, repeatedly (argon2id, 19 MiB, t=2), by session.',
        'The flood: 200 connections of one address with wrong passwords for 40 accounts, among them those of the 20 other users. The table shows the worst round.',
        'Other requests: 8 connections that list a page every 40 ms, compared with the same while no user signs in.',
      ],
    }
  },
}

type Sample = { present: Loaded; arriving: Loaded | undefined }

function rows({ quiet, busy }: Samples<'quiet' | 'busy', Sample>): Row[] {
  const signedIn = busy.flatMap(({ arriving }) => arriving ?? [])
  const perSecond = median(signedIn.map(rate))
  const p99 = (samples: readonly Sample[]) => median(samples.map(({ present }) => present.p99Ms))
  return [
    {
      what: 'sign-ins by password',
      measured: asLoad(signedIn),
      floor: '',
      ratio: '',
      target: `>= ${minPerSecond}/s`,
      met: perSecond >= minPerSecond,
    },
    {
      what: 'p99 of other requests at the same time',
      measured: asMs(p99(busy)),
      floor: `without sign-ins: ${asMs(p99(quiet))}`,
      ratio: '',
      target: `< ${maxMs} ms`,
      met: p99(busy) < maxMs,
    },
  ]
}

function floodedRow(rounds: readonly (readonly number[])[]): Row {
  const inTime = (took: readonly number[]) => took.filter((ms) => ms <= maxUnderFloodMs).length
  const worst = rounds.toSorted((a, b) => inTime(a) - inTime(b) || Math.max(...b) - Math.max(...a))[0] ?? []
  const count = inTime(worst)
  return {
    what: '20 users sign in at once while another address floods',
    measured: `${count} within 1 s, the slowest ${asMs(Math.max(...worst))}`,
    floor: '',
    ratio: '',
    target: '20 within 1 s',
    met: count === worst.length,
  }
}

function listed(proof: ProofLine): string {
  return requestText('GET', '/api/notifications', { proof })
}
