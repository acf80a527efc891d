// Compares a delivery that creates 1,000 users and their inboxes with one to 1,000 users that exist, on both engines.
import { readDatabaseUrl } from '../../../server/config/database-url.ts'
import { newId } from '../../../server/ids.ts'
import { openStore } from '../../../server/store/open.ts'
import type { Store } from '../../../server/store/store.ts'
import { inTurns, median, ratios } from '../../report/rounds.ts'
import type { Bench, Scenario } from '../../report/scenario.ts'
import { asRatio, type Row } from '../../report/table.ts'
import { deliveryTo } from '../../setup/delivery.ts'
import { startDatabase } from '../../setup/postgres.ts'
import { databaseIn } from '../../setup/service.ts'

const recipientsOfOne = 1_000
const deliveriesInRound = 9
const maxRatio = 2.5

export const newUsers: Scenario = {
  name: 'new-users',
  question: 'a delivery that creates 1,000 users and inboxes, and one to 1,000 users that exist',
  async run(bench) {
    const { url, sync } = await startDatabase(bench, 'anywhere')
    return {
      rows: [
        await compare(bench, 'SQLite', `sqlite:${databaseIn(bench.dir)}`),
        await compare(bench, `PostgreSQL, sync ${sync}`, url),
      ],
      notes: [
        'By the store, each until its commit. The two deliveries alternate; the second one goes to the users that the first one created.',
      ],
    }
  },
}

async function compare({ rounds, progress }: Bench, engine: string, url: string): Promise<Row> {
  const { store } = await openStore(readDatabaseUrl(url))
  let turn = 0
  const both = async () => {
    const took: [created: number, known: number][] = []
    for (let i = 0; i < deliveriesInRound; i++) {
      turn++
      took.push([await timeDelivery(store, turn), await timeDelivery(store, turn)])
    }
    return { created: median(took.map(([ms]) => ms)), known: median(took.map(([, ms]) => ms)) }
  }
  try {
    await both()
    const { round } = await inTurns({ rounds, progress, contenders: { round: both } })
    const [created, known] = [round.map((one) => one.created), round.map((one) => one.known)]
    const ratio = ratios(created, known)
    return {
      what: `a delivery that creates 1,000 users, ${engine}`,
      measured: `${median(created).toFixed(1)} ms`,
      floor: `to users that exist: ${median(known).toFixed(1)} ms`,
      ratio: asRatio(ratio),
      target: `<= ${maxRatio}`,
      met: ratio.median <= maxRatio,
    }
  } finally {
    await store.close()
  }
}

/** Milliseconds. The users of a turn are created by its first delivery. */
async function timeDelivery(store: Store, turn: number): Promise<number> {
  const at = Date.now()
  const recipients = Array.from({ length: recipientsOfOne }, (_, n) => ({
    to: { externalId: `customer ${turn} ${n}` },
    notificationId: newId(at),
    newUserId: newId(at),
  }))
  const delivery = { ...deliveryTo('', turn), recipients }
  const startedAt = performance.now()
  await store.deliver(delivery)
  return performance.now() - startedAt
}
