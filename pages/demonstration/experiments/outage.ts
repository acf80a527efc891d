// The experiment in which the database is gone for ten seconds, and then back.
import type { Experiment, Stage } from './experiment.ts'
import { joined, present, sentInBoth, signedIn } from './lanes.ts'

const outageSeconds = 10

export const outage: Experiment = {
  id: 'outage',
  async run(world, stage) {
    const before = await signedIn(world)
    await world.control('outage', { seconds: outageSeconds })
    const endsAt = performance.now() + outageSeconds * 1000
    const during = joined(before, await present(world, 'during'))
    // The list is in the database, whatever the proof is.
    const list = await sentInBoth(world, 'duringList', { method: 'GET', path: '/api/notifications' })
    const measured = joined(during, list, during)
    await untilOver(stage, endsAt)
    return joined(measured, await present(world, 'after'), measured)
  },
}

async function untilOver(stage: Stage, endsAt: number): Promise<void> {
  for (let left = endsAt - performance.now(); left > 0; left = endsAt - performance.now()) {
    stage.countDown(Math.ceil(left / 1000))
    await new Promise((resolve) => setTimeout(resolve, Math.min(left, 1000)))
  }
}
