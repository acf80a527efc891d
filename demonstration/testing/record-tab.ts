// Makes a run of all steps and experiments, in a page of the service.
import { experimentIds, outcomeOf } from '../page/experiments/experiments.ts'
import type { Recording } from '../page/recording.ts'
import { keyStory } from '../page/result/result.ts'
import { inboxActs, stepIds, Walk } from '../page/walk.ts'
import { World } from '../page/world.ts'

async function recordAll(titles: readonly string[]): Promise<Recording> {
  const frame = document.createElement('iframe')
  const world = new World('demonstration/', titles, () => {
    if (world.frame === undefined) return frame.remove()
    frame.src = world.frame
    document.body.append(frame)
  })
  const walk = new Walk(world)
  for (const id of [...stepIds, ...inboxActs]) await walk.reach(id)
  const outcomes: Recording['outcomes'] = {}
  for (const id of experimentIds) outcomes[id] = await outcomeOf(id, world)
  return {
    walk: [...walk.results],
    outcomes,
    keys: await keyStory(world),
  }
}

Object.assign(globalThis, { recordAll })
