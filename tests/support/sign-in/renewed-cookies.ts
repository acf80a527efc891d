// For tests: as in a browser, a request is sent with the cookie that has replaced its own, so that a test can keep the first one.
const renewed = new Map<string, string>()

type Fields = Readonly<Record<string, string>>

export function withNewestCookie<Given extends Fields>(headers: Given): Given {
  const [own = '', ...others] = (headers.cookie ?? '').split('; ')
  let newest = own
  for (let next = renewed.get(newest); next !== undefined; next = renewed.get(newest)) newest = next
  return newest === own ? headers : { ...headers, cookie: [newest, ...others].join('; ') }
}

/** `sent`: the cookie of the request. A sign-in and a sign-out replace no cookie of the same session. */
export function noteRenewedCookie(path: string, sent: Fields, response: Headers): void {
  const own = sent.cookie?.split('; ')[0] ?? ''
  const received = response.getSetCookie()[0]?.split(';')[0] ?? ''
  const [name, value] = received.split('=')
  if (path.startsWith('/api/me/') && value !== '' && name !== '' && own.startsWith(`${name}=`))
    renewed.set(own, received)
}
