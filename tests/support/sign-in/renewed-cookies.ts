// Replaces a request's cookie by the one that came after it, as a browser does, and its token, as a
// page does, so that a test can keep the first one.
const renewed = new Map<string, string>()

type Fields = Readonly<Record<string, string>>

function newestOf(own: string): string {
  let newest = own
  for (let next = renewed.get(newest); next !== undefined; next = renewed.get(newest)) newest = next
  return newest
}

export function withNewestProof<Given extends Fields>(headers: Given): Given {
  const [cookie = '', ...others] = (headers.cookie ?? '').split('; ')
  const token = headers.authorization ?? ''
  if (newestOf(cookie) === cookie && newestOf(token) === token) return headers
  return {
    ...headers,
    ...(cookie !== '' && { cookie: [newestOf(cookie), ...others].join('; ') }),
    ...(token !== '' && { authorization: newestOf(token) }),
  }
}

/** `sent`: the proof of the request. A sign-in and a sign-out replace no cookie of the same session, and `POST /api/me/token` no token. */
export function noteRenewedProof(
  path: string,
  sent: Fields,
  response: { headers: Headers; text: string },
): void {
  if (!path.startsWith('/api/me/')) return
  const own = sent.cookie?.split('; ')[0] ?? ''
  const received = response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const [name, value] = received.split('=')
  if (value !== '' && name !== '' && own.startsWith(`${name}=`)) renewed.set(own, received)
  const token = /"token":"([\w.-]+)"/.exec(response.text)?.[1]
  if (path !== '/api/me/token' && sent.authorization !== undefined && token !== undefined)
    renewed.set(sent.authorization, `Bearer ${token}`)
}
