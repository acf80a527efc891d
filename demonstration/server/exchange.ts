// One request to a world and its response, as they are on the wire: lines, spelling and order of the fields, and bodies as text.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Message } from './api.ts'
import { Body } from './body.ts'
import { maskedCookies } from './cookies.ts'

/** A password for a proxy, or what a proxy knows about the visitor, such as `Cf-Access-Jwt-Assertion`. */
const secretField = /auth|token|secret|assertion|jwt|oidc|session|cert|api-?key|password/i

/**
 * Of a request as Node has read it. What is the visitor's own has `…` as its value: cookies that are not the world's, and fields with
 * credentials but for a bearer token, which the page sends itself.
 */
export function requestOf({ method, url, httpVersion, rawHeaders }: IncomingMessage, names: ReadonlySet<string>) {
  const fields: [string, string][] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name, value] = [rawHeaders[i] as string, rawHeaders[i + 1] as string]
    fields.push([name, shownValue(name.toLowerCase(), value, names)])
  }
  return { line: `${method} ${url} HTTP/${httpVersion}`, fields }
}

function shownValue(name: string, value: string, names: ReadonlySet<string>): string {
  if (name === 'cookie') return maskedCookies(value, names)
  if (name === 'authorization' && /^bearer /i.test(value)) return value
  return secretField.test(name) ? '…' : value
}

/** Collects what a server writes; call it before the server has the response. A response to HEAD has no body. */
export function collectBody(response: ServerResponse): Body {
  const body = new Body()
  const { write, end } = response
  const isWanted = response.req.method !== 'HEAD'
  response.write = ((...values: Parameters<typeof write>) => {
    if (isWanted) body.add(values[0], values[1])
    return write.apply(response, values)
  }) as typeof write
  response.end = ((...values: Parameters<typeof end>) => {
    if (isWanted) body.add(values[0], values[1])
    return end.apply(response, values)
  }) as typeof end
  return body
}

/** The response may be shown in a frame of this origin: the form of another site was sent from one. Otherwise the console reports it. */
export function allowFrame(response: ServerResponse): void {
  const { writeHead } = response
  response.writeHead = ((status: number, fields: OutgoingHttpHeaders) => {
    const policy = String(fields['content-security-policy']).replace("frame-ancestors 'none'", "frame-ancestors 'self'")
    return writeHead.call(response, status, { ...fields, 'content-security-policy': policy })
  }) as typeof writeHead
}

/** `_header` is the very text that Node writes to the connection, with the fields that Node adds itself, such as `Date`. */
export function responseOf(response: ServerResponse): Omit<Message, 'body'> {
  const { _header: head } = response as ServerResponse & { _header?: string | null }
  const [line = '', ...lines] = (head ?? '').split('\r\n').filter((text) => text !== '')
  const fields = lines.map((text) => {
    const colon = text.indexOf(': ')
    return [text.slice(0, colon), text.slice(colon + 2)] as const
  })
  return { line, fields }
}
