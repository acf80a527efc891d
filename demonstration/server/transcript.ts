// A request to a world and its response, as on the wire. The visitor's own session has the same
// origin, and its secret must reach neither world nor page (S13).
import type { IncomingMessage, ServerResponse } from 'node:http'
import { equalSecrets } from '../../server/basics/secrets.ts'
import { passedField } from '../../server/demonstration/pass-on.ts'
import { cookiePairs, stripBlanks } from '../../server/http/request/credentials.ts'
import type { Message } from './api.ts'

/** What proxies want or know, such as `Cf-Access-Jwt-Assertion`. */
const secretField = /auth|token|secret|assertion|jwt|oidc|session|cert|api-?key|password/i
const maxBodyBytes = 16 * 1024

/** Cuts a longer body. `#bytes` has a character for each byte to save memory. */
export class Body {
  #bytes = ''

  add(chunk: unknown, encoding?: unknown): void {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return
    const bytes = Buffer.from(
      chunk as string,
      typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8',
    )
    this.#bytes += bytes.subarray(0, maxBodyBytes - this.#bytes.length).toString('latin1')
  }

  get text(): string {
    return Buffer.from(this.#bytes, 'latin1').toString('utf8')
  }
}

export function copyOfBody(request: IncomingMessage): Body {
  const body = new Body()
  const { push } = request
  request.push = (chunk, encoding) => {
    body.add(chunk, encoding)
    return push.call(request, chunk, encoding)
  }
  return body
}

/** Calls the listener before the client can have the message. A response to HEAD has no body. */
export function onSent(response: ServerResponse, listener: (message: Message) => void): void {
  const body = new Body()
  for (const name of ['write', 'end'] as const) {
    const original = response[name] as (...values: unknown[]) => boolean & ServerResponse
    response[name] = (...values: unknown[]) => {
      if (response.req.method !== 'HEAD') body.add(values[0], values[1])
      const result = original.apply(response, values)
      if (name === 'end') listener({ ...headOf(response), body: body.text })
      return result
    }
  }
}

/** `_header`: what Node writes, with its own fields such as `Date`. */
function headOf(response: ServerResponse): Omit<Message, 'body'> {
  const { _header: head } = response as ServerResponse & { _header?: string | null }
  const [line = '', ...lines] = (head ?? '').split('\r\n').filter((text) => text !== '')
  return { line, fields: lines.map((text) => text.split(/: (.*)/s, 2) as [string, string]) }
}

/** `…` replaces the visitor's other cookies, and credentials except the page's token. */
export function requestOf(request: IncomingMessage, names: ReadonlySet<string>): Message {
  const { method, url, httpVersion, rawHeaders } = request
  const fields: [string, string][] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    fields.push([name, shownValue(name.toLowerCase(), rawHeaders[i + 1] as string, names)])
  }
  return { line: `${method} ${url} HTTP/${httpVersion}`, fields, body: '' }
}

function shownValue(name: string, value: string, names: ReadonlySet<string>): string {
  if (name === 'cookie') return maskedCookies(value, names)
  if (name === 'authorization' && /^bearer /i.test(value)) return value
  return secretField.test(name) ? '…' : value
}

export function keepCookies(
  { headers, rawHeaders }: IncomingMessage,
  names: ReadonlySet<string>,
): void {
  if (headers.cookie === undefined) return
  headers.cookie = onlyCookies(headers.cookie, names)
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.toLowerCase() === 'cookie') rawHeaders[i + 1] = headers.cookie
}

export function onlyCookies(field: string, names: ReadonlySet<string>): string {
  const kept = cookiePairs(field).filter(({ name }) => names.has(name))
  return stripBlanks(kept.map(({ pair }) => pair).join(';'))
}

/** A pair without a name is a value. */
export function maskedCookies(field: string, names: ReadonlySet<string>): string {
  const masked = cookiePairs(field).map(({ name, pair }) =>
    names.has(name) ? pair : `${/^(?:[^=]*=|[ \t]*)/.exec(pair)?.[0]}…`,
  )
  return masked.join(';')
}

const ofProxies = /^(?:forwarded|via|x-forwarded(?:-.*)?|x-real-ip|.*-(?:client|connecting)-ip)$/

/**
 * Removes the additions of the service (pass-on.ts) and proxies, and returns the facts. Undefined
 * for another process's request.
 */
export function takeFacts(
  { rawHeaders, headers }: IncomingMessage,
  secret: string,
): string[] | undefined {
  const at = rawHeaders.lastIndexOf(passedField)
  const [presented = '', ...facts] = (rawHeaders[at + 1] ?? '').split(' ')
  if (at < 0 || at % 2 === 1 || !equalSecrets(presented, secret)) return undefined
  rawHeaders.splice(at)
  for (let i = at - 2; i >= 0; i -= 2)
    if (ofProxies.test(String(rawHeaders[i]).toLowerCase())) rawHeaders.splice(i, 2)
  for (const name of Object.keys(headers))
    if (name === passedField.toLowerCase() || ofProxies.test(name)) delete headers[name]
  return facts
}
