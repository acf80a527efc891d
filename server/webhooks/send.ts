// Sends one request to an application's address. It checks the address to which it connects, not
// what the name meant before: no webhook reaches the service's network. It follows no redirect.
import dns from 'node:dns'
import http from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from '../basics/ip-addresses.ts'

const usualTimeoutMs = 10_000
const maxResponseBytes = 64 * 1024

/** A class of errors, or a status such as `status-500`, without text of the other side. */
export class NotAccepted extends Error {}

type Post = { url: string; headers: Readonly<Record<string, string>>; body: string }

/** Resolves with a status from 200 to 299, or throws NotAccepted. */
export type Poster = (post: Post) => Promise<number>

/** `allowsPrivate` also allows `http:`, this machine and private networks. */
export function poster({
  allowsPrivate,
  timeoutMs = usualTimeoutMs,
}: {
  allowsPrivate: boolean
  timeoutMs?: number
}): Poster {
  let agents: ReturnType<typeof filteringAgents> | undefined
  return async ({ url, headers, body }) => {
    const { protocol, hostname } = new URL(url)
    const host = hostname.replace(/^\[|\]$/g, '')
    if (!allowsPrivate && isIP(host) && !isPublicAddress(host))
      throw new NotAccepted('private-address')
    if (protocol === 'http:' && !allowsPrivate) throw new NotAccepted('not-https')
    const { request } = protocol === 'http:' ? http : process.getBuiltinModule('node:https')
    agents ??= filteringAgents(allowsPrivate)
    const agent = (await agents)[protocol as 'http:' | 'https:']
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => reject(new NotAccepted(classOf(error)))
      // One time for all of it: a server that sends a byte a second is never idle.
      const signal = AbortSignal.timeout(timeoutMs)
      const sent = request(
        url,
        { method: 'POST', headers, agent, signal, ...(!allowsPrivate && { lookup: publicOnly }) },
        (response) => {
          const { statusCode = 0 } = response
          const end = () => {
            sent.destroy()
            if (statusCode >= 200 && statusCode < 300) resolve(statusCode)
            else reject(new NotAccepted(`status-${statusCode}`))
          }
          let bytes = 0
          response.on('data', ({ length }: Buffer) => {
            bytes += length
            if (bytes > maxResponseBytes) end()
          })
          response.on('end', end)
          response.on('error', fail)
        },
      )
      sent.on('error', fail)
      sent.end(body)
    })
  }
}

/** The package loads Node's fetch, TLS and HTTP/2: 7 MB, 50 ms. */
async function filteringAgents(allowsPrivate: boolean) {
  const { RequestFilteringHttpAgent: Http, RequestFilteringHttpsAgent: Https } = await import(
    'request-filtering-agent'
  )
  const options = { allowPrivateIPAddress: allowsPrivate, allowMetaIPAddress: allowsPrivate }
  return { 'https:': new Https(options), 'http:': new Http(options) }
}

/** The agent takes IPv4-compatible addresses for public. */
const publicOnly: LookupFunction = (host, options, done) =>
  dns.lookup(host, options, (error, found, family) => {
    const addresses = [found].flat().map((one) => (typeof one === 'string' ? one : one?.address))
    const isPrivate =
      error === null && !addresses.every((one) => one !== undefined && isPublicAddress(one))
    done(isPrivate ? new NotAccepted('private-address') : error, found, family)
  })

const classes: Readonly<Record<string, string>> = {
  ABORT_ERR: 'timeout',
  ENOTFOUND: 'name-not-found',
  EAI_AGAIN: 'name-not-found',
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
}

function classOf(error: Error & { code?: string }): string {
  if (error instanceof NotAccepted) return error.message
  if (error.message.includes('is not allowed. Because')) return 'private-address'
  if (/TLS|SSL|CERT|SIGNATURE/.test(error.code ?? '')) return 'certificate'
  return classes[error.code ?? ''] ?? 'failed'
}
