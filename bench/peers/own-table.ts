// The table of the two peers whose notifications are the application's own, and the requests that their programs accept.
import { type ProofLine, requestText } from '../load/requests.ts'
import { content, key, type PeerOn, type PeerWork, placeProgram, type Running, startPeer } from './peer.ts'

export const producer: ProofLine = `Authorization: Bearer ${key}`

export function usernames(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `reader-${i + 1}@example.com`)
}

export function startProgram(name: string, { folder, database }: PeerOn): Promise<Running> {
  const env = { DATABASE_URL: database.url, KEY: key }
  return startPeer({ args: [placeProgram(name, folder)], env, ready: '/health' })
}

/** As deliveries in turn to all users would have filled it. */
export async function fillOwnTable({ database, inboxSize }: PeerOn): Promise<void> {
  await database.query(`
    insert into notification (user_id, title, body, url, category, data)
    select u.id, 'Your order ' || (100000 + n) || ' is on its way', '${content.body}', '/orders/' || (100000 + n),
      '${content.category}', jsonb_build_object('order', 100000 + n, 'parcels', 1)
    from generate_series(1, ${inboxSize}) n, "user" u order by n`)
  await database.query('vacuum analyze')
}

export function ownWork(cookies: readonly ProofLine[], users: readonly string[]): PeerWork {
  return {
    lists: cookies.map((proof) => requestText('GET', '/notifications?limit=20', { proof })),
    deliveries: users.map((username) =>
      requestText('POST', '/notifications', { proof: producer, body: JSON.stringify({ username, ...content }) }),
    ),
  }
}
