// What happened during one exchange, in order, as arrows between browser, server and database. The diagram and its plain list are made of it.
import type { Sent, Traced } from './world.ts'

export type Actor = 'browser' | 'server' | 'store'
export type Proof = 'none' | 'cookie' | 'token' | 'password'
export type Arrow =
  | { kind: 'request'; line: string; proof: Proof }
  | { kind: 'store' | 'server'; name: string; detail: string; ms: number }
  | { kind: 'response'; status: string; isGood: boolean; brings: 'cookie' | 'token' | undefined }

export function arrowsOf({ exchange, status, lane }: Sent, cookieName: string): Arrow[] {
  const { request, response, trace } = exchange
  const [method, path = ''] = request.line.split(' ')
  const isSignIn = request.body.includes('"password"')
  return [
    {
      kind: 'request',
      line: `${method} ${routeOf(path)}`,
      proof: isSignIn ? 'password' : proofOf(sentFields(request.fields), cookieName),
    },
    ...(trace ?? []).map(arrowOf),
    {
      kind: 'response',
      status: response.line.split(' ').slice(1).join(' '),
      isGood: status < 400,
      brings: isSignIn && status === 200 ? (lane === 'session' ? 'cookie' : 'token') : undefined,
    },
  ]
}

/** The path inside the service, without the query. */
function routeOf(path: string): string {
  const at = path.indexOf('/demonstration/service')
  return (at < 0 ? path : path.slice(at + '/demonstration/service'.length)).split('?', 1)[0] ?? ''
}

const sentFields = (fields: Sent['exchange']['request']['fields']) =>
  new Map(fields.map(([name, value]) => [name.toLowerCase(), value]))

function proofOf(fields: ReadonlyMap<string, string>, cookieName: string): Proof {
  if (fields.has('authorization')) return 'token'
  const hasCookie = fields
    .get('cookie')
    ?.split('; ')
    .some((pair) => pair.startsWith(`${cookieName}=`))
  return hasCookie ? 'cookie' : 'none'
}

function arrowOf({ name, detail, ms }: Traced): Arrow {
  return { kind: name.startsWith('store') ? 'store' : 'server', name, detail, ms }
}
