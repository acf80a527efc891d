// For which host are passkeys created, and on whose pages are they used? A passkey belongs to the host of the public URL (its relying
// party id, WebAuthn Level 3, section 5.1.2): a page of another host, however similar, gets nothing that the service accepts.
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { CarillonError } from '../../basics/errors.ts'
import { isLoopback } from '../../config/values.ts'
import type { Site } from '../../http/site.ts'

/** `origins`: pages that may use a passkey, exactly as browsers send them. */
export type RelyingParty = { id: string; origins: readonly string[] }

type Names = {
  publicUrl: string
  host: string | undefined
  allowedOrigins: readonly string[]
}

/**
 * Throws UNPROCESSABLE if browsers refuse passkeys here: they need a host name, and HTTPS or this machine. If the public URL is an
 * address of this machine, as it is without a setting, the passkeys belong to `localhost`.
 */
export function relyingPartyOf({ publicUrl, host, allowedOrigins }: Names): RelyingParty {
  const url = new URL(publicUrl)
  if (isAddress(url.hostname) && isLoopback(url.hostname)) {
    url.hostname = 'localhost'
    if (host !== undefined && isAddress(new URL(`http://${host}`).hostname)) throw noHostName(publicUrl, url.origin)
  }
  if (isAddress(url.hostname)) throw noHostName(publicUrl, 'a public URL with a host name (CARILLON_PUBLIC_URL)')
  if (url.protocol !== 'https:' && !/^(.+\.)?localhost$/.test(url.hostname))
    throw new CarillonError('UNPROCESSABLE', `Passkeys need HTTPS, and the public URL is ${publicUrl}`, {
      remedy: 'Set CARILLON_PUBLIC_URL to an https URL. Browsers allow http on localhost only.',
    })
  return { id: url.hostname, origins: [url.origin, ...allowedOrigins] }
}

function noHostName(publicUrl: string, instead: string): CarillonError {
  const problem = `Passkeys need a host name, and ${new URL(publicUrl).origin} has an address`
  return new CarillonError('UNPROCESSABLE', problem, { remedy: `Use ${instead} instead.` })
}

function isAddress(hostname: string): boolean {
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0
}

/** That of the host of a request. Throws UNPROCESSABLE if browsers accept no passkeys here. */
export function relyingPartyFor(
  { site }: { site: Pick<Site, 'publicUrl' | 'allowedOrigins'> },
  { headers }: FastifyRequest,
): RelyingParty {
  const { publicUrl, allowedOrigins } = site
  return relyingPartyOf({ publicUrl: publicUrl(), host: headers.host, allowedOrigins })
}
