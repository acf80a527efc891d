// The six steps of the walk: the three exchanges of the spec, then what an inbox is for. Each is one request in each lane.
import type { Lane, Sent, World } from './world.ts'

export const stepIds = ['without-proof', 'sign-in', 'with-proof', 'list', 'mark-one', 'mark-all'] as const
export type StepId = (typeof stepIds)[number]
export type Results = Map<StepId, Readonly<Record<Lane, Sent>>>

/** What the service responds if the step works. */
export const expectedStatus: Readonly<Record<StepId, number>> = {
  'without-proof': 401,
  'sign-in': 200,
  'with-proof': 200,
  list: 200,
  'mark-one': 204,
  'mark-all': 204,
}

type Listed = { items: readonly { id: string; read: boolean }[] }

export function sendStep(id: StepId, lane: Lane, world: World, results: Results): Promise<Sent> {
  if (id === 'without-proof') return world.send(lane, { method: 'GET', path: '/routeRestreinte', isWithoutProof: true })
  if (id === 'sign-in') return world.signIn(lane)
  if (id === 'with-proof') return world.send(lane, { method: 'GET', path: '/routeRestreinte' })
  if (id === 'list') return world.send(lane, { method: 'GET', path: '/api/notifications?page=1&limit=10' })
  if (id === 'mark-all') return world.send(lane, { method: 'POST', path: '/api/notifications/read-all' })
  return world.send(lane, { method: 'PATCH', path: `/api/notifications/${toMark(lane, results)}/read` })
}

/** Each lane marks another notification, so that both change something. */
function toMark(lane: Lane, results: Results): string {
  const { items } = (results.get('list')?.[lane].data ?? { items: [] }) as Listed
  const unread = items.filter(({ read }) => !read)
  return (unread[lane === 'session' ? 0 : 1] ?? items[0])?.id ?? '00000000-0000-7000-8000-000000000000'
}
