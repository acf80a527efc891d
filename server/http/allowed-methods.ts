// What can a path be asked with? For `Allow`, where it was asked with something else.
import type { ConnectionError } from 'fastify'
import type { Route } from './operation.ts'

/** What a path can be asked with, for `Allow` (RFC 9110, section 10.2.1). */
export function allowedMethods(routes: readonly Route[], path: string): string[] {
  const methods = new Set<string>(routes.filter((known) => isSamePath(known.path, path)).map(({ method }) => method))
  return [...(methods.has('GET') ? methods.add('HEAD') : methods)]
}

/** The path of `FOO /login HTTP/1.1`: a request in order but for its method, which Node's parser does not know. */
export function pathOfStrangeMethod({ rawPacket, bytesParsed }: ConnectionError): string | undefined {
  const line = /^([!#$%&'*+.^`|~\w-]+) (\/[^\s?]*)\S* HTTP\/1\.[01]\r\n/.exec(String(rawPacket))
  // Further on in the packet it is another request that is wrong.
  return line !== null && bytesParsed <= (line[1] as string).length ? line[2] : undefined
}

function isSamePath(pattern: string, path: string): boolean {
  const [wanted, found] = [pattern.split('/'), path.split('/')]
  return (
    wanted.length === found.length &&
    wanted.every((part, i) => part === found[i] || (part[0] === ':' && found[i] !== ''))
  )
}
