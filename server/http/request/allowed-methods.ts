// What can a path be asked with? For `Allow`, where it was asked with something else.
import type { ConnectionError } from 'fastify'
import type { Route } from '../routes/operation.ts'
import { isOtherSpelling } from './spelling.ts'

/** The methods that a path takes, for `Allow` (RFC 9110, section 10.2.1). */
export function allowedMethods(routes: readonly Route[], path: string): string[] {
  const most = Math.max(...routes.map(({ segments }) => segments.length))
  // A path of 15,000 slashes, taken apart for each route, cost 5 ms.
  const found = path.split('/', most + 1)
  const known = routes.filter((route) => isSamePath(route.segments, found) && !isOtherSpelling(path, route))
  const methods = new Set<string>(known.map(({ method }) => method))
  return [...(methods.has('GET') ? methods.add('HEAD') : methods)]
}

/** The path of `FOO /login HTTP/1.1`: a request in order but for its method, which Node's parser does not know. */
export function pathOfStrangeMethod({ rawPacket, bytesParsed }: ConnectionError): string | undefined {
  const line = /^([!#$%&'*+.^`|~\w-]+) (\/[^\s?]*)\S* HTTP\/1\.[01]\r\n/.exec(String(rawPacket))
  // Further on in the packet it is another request that is wrong.
  return line !== null && bytesParsed <= (line[1] as string).length ? line[2] : undefined
}

function isSamePath(wanted: readonly string[], found: readonly string[]): boolean {
  return wanted.length === found.length && wanted.every((part, i) => part === found[i] || takes(part, found[i]))
}

/** A parameter takes any text but what another reader may take for slashes or dot segments (RFC 3986, section 5.2.4). */
function takes(part: string, text = ''): boolean {
  return part[0] === ':' && text !== '' && text !== '.' && text !== '..' && !text.includes('\\')
}
