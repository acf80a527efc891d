import { displayVersion } from '../basics/version.ts'
import type { Readiness } from '../http/readiness.ts'
import { countNodes } from '../metrics/hourly.store.ts'
import { mostStreams } from '../metrics/nodes.store.ts'
import type { RunningNode } from '../metrics/nodes.ts'
import { listProducers, type Producer } from '../producers/producers.store.ts'
import { namesOf } from '../users/display-user.ts'
import * as shapes from './operator.schemas.ts'
import { forOperator, type OperatorNeeds, sendVisible } from './operator.ts'

const soonMs = 14 * 24 * 3_600_000

export const now = forOperator({
  summary:
    'How the service is: version, start, keys that expire soon, and what doctor says of settings and database',
  responses: { 200: shapes.NowResponse },
  async handle(needs: OperatorNeeds & { readiness: Readiness; node: RunningNode }, _, reply) {
    const at = needs.users.now()
    const { store } = needs
    await needs.node.write().catch(() => {})
    const producers = await store.read(listProducers)
    const streams = await store.read(mostStreams, at)
    const names = await namesOf(
      store,
      streams.map(({ userId }) => userId),
    )
    return sendVisible(reply, {
      version: displayVersion(),
      startedAt: at - Math.round(process.uptime() * 1_000),
      nodes: await store.read(countNodes),
      isReady: needs.readiness.isReady,
      keysExpiring: producers.flatMap((producer) => expiring(producer, at)),
      mostStreams: streams.map((one) => ({ ...one, name: names.get(one.userId) ?? null })),
      findings: await needs.operatorPage.findings(),
    })
  },
})

function expiring({ id, name, expiresAt, revokedAt }: Producer, at: number) {
  if (expiresAt === null || revokedAt !== null || expiresAt <= at || expiresAt > at + soonMs)
    return []
  return [{ id, name, expiresAt }]
}
