// Measures what mails for unread notifications cost a delivery: to users whom no mail reaches, to
// users whose timer waits already, and to users for whom the delivery writes one. No mail is due
// meanwhile, because the rule is a daily digest.
import { Loader, type Server } from '../load/load.ts'
import { requestText } from '../load/requests.ts'
import { inTurns } from '../report/rounds.ts'
import { costRow } from '../report/rows.ts'
import type { Scenario } from '../report/scenario.ts'
import { deliveryTo, prepare, type Reader, sendAll } from '../setup/inboxes.ts'
import { startService } from '../setup/service.ts'

/** There are so many users of each kind. Each round gives as many new users their first timer. */
const users = 1_000
const connections = 64
const targets = { waits: 1.05, written: 1.25 }

export const mailTimers: Scenario = {
  name: 'mail-timers',
  question:
    'a delivery on SQLite to users whom no mail reaches, whose timer waits, and for whom it writes one',
  async run(bench) {
    const { rounds, seconds } = bench
    const settings = { CARILLON_SMTP_URL: 'smtp://127.0.0.1:9', CARILLON_MAIL_UNREAD: 'daily' }
    const service = await startService(bench, { settings })
    const count = bench.scaled(users)
    const { readers, producer } = await prepare(service, {
      users: (2 + rounds) * count,
      signedIn: 0,
    })
    const unreached = readers.slice(0, count)
    const waiting = readers.slice(count, 2 * count)
    const fresh = readers.slice(2 * count)
    const verify = (some: readonly Reader[]) => {
      const entries = some.map(({ username }) => {
        return { externalId: username, email: `${username}@example.org`, emailVerified: true }
      })
      return requestText('PUT', '/api/users', {
        proof: producer,
        body: JSON.stringify({ users: entries }),
      })
    }
    for (let from = count; from < readers.length; from += count)
      await sendAll(service.port, [verify(readers.slice(from, from + count))], 200)
    await sendAll(service.port, [deliveryTo(waiting, producer)], 201)
    const loader = new Loader(bench)
    const deliver = (server: Server, to: readonly Reader[]) => {
      const requests = to.map((reader) => deliveryTo([reader], producer))
      return loader.measure(server, {
        requests,
        connections,
        status: 201,
        count: to.length,
        seconds,
      })
    }
    const taken = await inTurns(bench, {
      'no mail': () => deliver(service, unreached),
      'a timer waits': () => deliver(service, waiting),
      // Each user gets a first timer once, so a disturbed sample is not taken again.
      'a timer is written': async () => ({
        ...(await deliver(service, fresh.splice(0, count))),
        otherProgramsShare: 0,
      }),
    })
    const floor = taken['no mail']
    const what = 'CPU of a delivery to a user'
    return [
      costRow({
        what: `${what} whose timer waits`,
        of: taken['a timer waits'],
        floor,
        max: targets.waits,
      }),
      costRow({
        what: `${what} for whom it writes a timer`,
        of: taken['a timer is written'],
        floor,
        max: targets.written,
      }),
    ]
  },
}
