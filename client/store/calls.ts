// The requests that the store sends.
import { idInPath } from '../transport/paths.ts'
import type { Requests } from '../transport/requests.ts'
import type { Calls } from './source.ts'

export function callsOf(requests: Requests): Calls {
  const path = 'api/notifications'
  const mark = (id: string, how: string) =>
    requests.nothing({ method: 'PATCH', path: `${path}/${idInPath(id, 'You have no such notification')}/${how}` })
  return {
    list: ({ status, category, limit, before, signal }) => {
      const query = new URLSearchParams(category.map((name) => ['category', name]))
      if (status !== 'all') query.set('status', status)
      return requests.data({ path: `${path}?${query}`, query: { limit, before }, signal })
    },
    async transmit(act) {
      if (act.type === 'read' || act.type === 'unread') return mark(act.id, act.type)
      const { throughSeq } = act.type === 'read-all' ? act : {}
      return requests.nothing({ method: 'POST', path: `${path}/${act.type}`, query: { throughSeq } })
    },
  }
}
