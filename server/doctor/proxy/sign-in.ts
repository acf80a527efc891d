// Does a real sign-in work? Signs in by session, sends a request with the cookie, and signs out.
import { type Finding, fault, ok, warning } from '../finding.ts'
import { described, type ProbeClient } from './probe-client.ts'
import { examineStream } from './stream.ts'

const check = 'sign-in'
type Credentials = { username: string; password: string }

/** `withStream` also opens a live stream with the session. Rejects if no response arrives. */
export async function trySignIn(
  client: ProbeClient,
  { username, password }: Credentials,
  { withStream = false } = {},
): Promise<Finding[]> {
  const origin = { origin: client.origin }
  const body = { username, password, variant: 'stateful' }
  const entered = await client.request('/login', { method: 'POST', headers: origin, body })
  if (entered.status !== 200)
    return [
      fault(check, {
        found: `refused: ${entered.json?.error?.message ?? described(entered)}`,
        change: entered.status === 401 ? `npx carillon user password ${username}` : 'correct the faults above first',
      }),
    ]
  const cookie = entered.headers.getSetCookie()[0]?.split(';')[0]
  if (cookie === undefined)
    return [fault(check, { found: 'no cookie arrived', change: 'nginx: no proxy_hide_header for Set-Cookie' })]
  const me = await client.request('/api/me', { headers: { cookie } })
  const findings = [
    me.json?.data?.proof === 'session'
      ? ok(check, `${username} is signed in: the cookie came back and is known`)
      : fault(check, {
          found: `the cookie arrived here, but the service does not accept it (${described(me)})`,
          change: 'nginx: proxy_set_header Cookie $http_cookie;',
        }),
    await etag(client, cookie),
    ...(withStream ? [await examineStream(client, [{ cookie }])] : []),
  ]
  const left = await client.request('/logout', { method: 'POST', headers: { ...origin, cookie } })
  const after = await client.request('/api/me', { headers: { cookie } })
  const isOut = left.status === 204 && after.status === 401
  const change = 'nginx: proxy_cache off;'
  findings.push(isOut ? ok('sign-out', 'done') : fault('sign-out', { found: 'the session is still valid', change }))
  return findings
}

/** The response for an unchanged page is 304. The comparison is weak: compression may weaken the tag. */
async function etag(client: ProbeClient, cookie: string): Promise<Finding> {
  const list = '/api/notifications?limit=1'
  const tag = (await client.request(list, { headers: { cookie } })).headers.get('etag')
  if (tag === null)
    return warning('ETag', { found: 'it does not arrive, so every page is sent in full', change: 'nginx: etag on;' })
  const again = await client.request(list, { headers: { cookie, 'if-none-match': tag } })
  if (again.status === 304) return ok('ETag', 'an unchanged page is not sent again')
  const change = 'nginx: proxy_set_header If-None-Match $http_if_none_match;'
  return warning('ETag', { found: 'it is changed on the way, so every page is sent in full', change })
}
