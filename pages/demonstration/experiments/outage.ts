// The experiment in which the database is gone for ten seconds, and then back.
import type { World } from '../world.ts'
import { type Experiment, factOf, type Measurements, type Stage } from './experiment.ts'
import { followedBy, joined, present, signedIn } from './lanes.ts'

const outageSeconds = 10

export const outage: Experiment = {
  id: 'outage',
  async run(world, stage) {
    const before = await signedIn(world, stage)
    await world.control('outage', { seconds: outageSeconds })
    const endsAt = performance.now() + outageSeconds * 1000
    const during = joined(before, await present(world, 'during'))
    const measured = followedBy(during, await lists(world))
    await untilOver(stage, endsAt)
    return followedBy(measured, await present(world, 'after'))
  },
}

/** The list of notifications is in the database, whatever the proof is. */
async function lists(world: World): Promise<Measurements> {
  const list = { method: 'GET', path: '/api/notifications' }
  const session = factOf('duringList', await world.send('session', list))
  const token = factOf('duringList', await world.send('token', list))
  return { session: { answer: null, facts: [session] }, token: { answer: null, facts: [token] } }
}

async function untilOver(stage: Stage, endsAt: number): Promise<void> {
  for (let left = endsAt - performance.now(); left > 0; left = endsAt - performance.now()) {
    stage.progress('outage', Math.ceil(left / 1000))
    await new Promise((resolve) => setTimeout(resolve, Math.min(left, 1000)))
  }
}
