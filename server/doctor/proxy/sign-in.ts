// Does a real sign-in last? In by session, once around with its cookie, and out again.
import { type Finding, fault, ok, warning } from '../finding.ts'
import { type Asker, described } from './ask.ts'
import { examineStream } from './stream.ts'

const check = 'sign-in'
type Credentials = { username: string; password: string }

/** `withStream` opens a live stream too, by the session. Rejects where nothing answers any more. */
export async function trySignIn(
  asker: Asker,
  { username, password }: Credentials,
  { withStream = false } = {},
): Promise<Finding[]> {
  const origin = { origin: asker.origin }
  const body = { username, password, variant: 'stateful' }
  const entered = await asker.request('/login', { method: 'POST', headers: origin, body })
  if (entered.status !== 200)
    return [
      fault(check, {
        found: `refused: ${entered.json?.error?.message ?? described(entered)}`,
        change: entered.status === 401 ? `npx carillon user password ${username}` : 'first what is said above',
      }),
    ]
  const cookie = entered.headers.getSetCookie()[0]?.split(';')[0]
  if (cookie === undefined)
    return [fault(check, { found: 'no cookie came back', change: 'nginx: no proxy_hide_header for Set-Cookie' })]
  const me = await asker.request('/api/me', { headers: { cookie } })
  const findings = [
    me.json?.data?.proof === 'session'
      ? ok(check, `${username} is signed in: the cookie came back and is known`)
      : fault(check, {
          found: `the cookie came, and is not known when it goes back (${described(me)})`,
          change: 'nginx: proxy_set_header Cookie $http_cookie;',
        }),
    await etag(asker, cookie),
    ...(withStream ? [await examineStream(asker, [{ cookie }])] : []),
  ]
  const left = await asker.request('/logout', { method: 'POST', headers: { ...origin, cookie } })
  const after = await asker.request('/api/me', { headers: { cookie } })
  const isOut = left.status === 204 && after.status === 401
  const change = 'nginx: proxy_cache off;'
  findings.push(isOut ? ok('sign-out', 'done') : fault('sign-out', { found: 'the session still lives', change }))
  return findings
}

/** A page that did not change is answered 304, weakly compared: compression may weaken the tag. */
async function etag(asker: Asker, cookie: string): Promise<Finding> {
  const list = '/api/notifications?limit=1'
  const tag = (await asker.request(list, { headers: { cookie } })).headers.get('etag')
  if (tag === null)
    return warning('ETag', { found: 'it does not arrive, so every page is sent whole', change: 'nginx: etag on;' })
  const again = await asker.request(list, { headers: { cookie, 'if-none-match': tag } })
  if (again.status === 304) return ok('ETag', 'a page that did not change is not sent again')
  const change = 'nginx: proxy_set_header If-None-Match $http_if_none_match;'
  return warning('ETag', { found: 'it is changed on the way, so every page is sent whole', change })
}
