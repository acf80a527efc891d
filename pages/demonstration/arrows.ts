// What happened during one exchange, in order, as arrows between browser, server and database. The diagram and its plain list are made of it.
import { cookieSentBy, fieldOf } from './proof-parts.ts'
import type { Exchange, Sent, Traced } from './world.ts'

export type Actor = 'browser' | 'server' | 'store'
export type Proof = 'none' | 'cookie' | 'token' | 'password'
export type Arrow =
  | { kind: 'request'; line: string; proof: Proof }
  | { kind: 'store' | 'server'; name: string; detail: string; ms: number }
  | { kind: 'response'; status: string; isGood: boolean; brings: 'cookie' | 'token' | undefined }

/** `isShown`: whether a call in the server has an arrow. Each call of the database has one. */
export function arrowsOf(
  { exchange, status, lane }: Sent,
  { cookieName, isShown }: { cookieName: string; isShown: (call: Traced) => boolean },
): Arrow[] {
  const { request, response, trace } = exchange
  const [method, path = ''] = request.line.split(' ')
  const isSignIn = request.body.includes('"password"')
  return [
    {
      kind: 'request',
      line: `${method} ${routeOf(path)}`,
      proof: isSignIn ? 'password' : proofOf(exchange, cookieName),
    },
    ...(trace ?? []).filter((call) => isOfStore(call) || isShown(call)).map(arrowOf),
    {
      kind: 'response',
      status: response.line.split(' ').slice(1).join(' '),
      isGood: status < 400,
      brings: isSignIn && status === 200 ? (lane === 'session' ? 'cookie' : 'token') : undefined,
    },
  ]
}

/** The path inside the service, without the query; an id would be most of it. */
function routeOf(path: string): string {
  const at = path.indexOf('/demonstration/service')
  const route = (at < 0 ? path : path.slice(at + '/demonstration/service'.length)).split('?', 1)[0] ?? ''
  return route.replace(/[\da-f]{8}-[\da-f-]{27}/, ':id')
}

function proofOf(exchange: Pick<Exchange, 'request'>, cookieName: string): Proof {
  if (fieldOf(exchange, 'authorization') !== undefined) return 'token'
  return cookieSentBy(exchange, cookieName) === undefined ? 'none' : 'cookie'
}

export function arrowOf({ name, detail, ms }: Traced): Arrow {
  return { kind: isOfStore({ name }) ? 'store' : 'server', name, detail, ms }
}

const isOfStore = ({ name }: Pick<Traced, 'name'>) => name.startsWith('store.')
