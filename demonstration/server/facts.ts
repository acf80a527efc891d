// What follows the fields of the visitor when a request is passed on to a listener of this process (server/demonstration/pass-on.ts): the secret
// of the listener, and facts about the request.
import type { IncomingMessage } from 'node:http'
import { equalSecrets } from '../../server/basics/secrets.ts'
import { passedField } from '../../server/demonstration/pass-on.ts'

/** What a proxy in front of the service says of the visitor, and of itself. */
const ofProxies = /^(?:forwarded|via|x-forwarded(?:-.*)?|x-real-ip|.*-(?:client|connecting)-ip)$/

/** Takes the facts away, and what proxies have added; undefined if the request comes from another process. */
export function takeFacts({ rawHeaders, headers }: IncomingMessage, secret: string): string[] | undefined {
  const at = rawHeaders.lastIndexOf(passedField)
  const [presented = '', ...facts] = (rawHeaders[at + 1] ?? '').split(' ')
  if (at < 0 || at % 2 === 1 || !equalSecrets(presented, secret)) return undefined
  rawHeaders.splice(at)
  for (let i = at - 2; i >= 0; i -= 2) if (ofProxies.test(String(rawHeaders[i]).toLowerCase())) rawHeaders.splice(i, 2)
  for (const name of Object.keys(headers))
    if (name === passedField.toLowerCase() || ofProxies.test(name)) delete headers[name]
  return facts
}
