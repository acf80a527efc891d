// What the settings say of the addresses of this service, of its cookies, and of the sites that may use it.
import { rangesOf } from '../basics/ip-addresses.ts'
import type { Config } from '../config/settings.ts'
import type { Cookie, Site } from '../http/site.ts'

/** Browsers keep no cookie for longer (RFC 6265bis, section 5.5). */
const deviceCookieLifetimeMs = 400 * 24 * 3_600_000

export type Cookies = { cookie: Cookie; deviceCookie: Cookie }

/** `url`: without a setting, the public URL is known only after the service listens. */
export function siteOf(config: Config, url: () => string, cookies: Cookies = cookiesOf(config)): Site {
  const { publicUrl, host, allowedHosts, allowedOrigins, returnUrls, hstsSubdomains, trustedProxies, variant } = config
  return {
    publicUrl: url,
    isHttps: publicUrl?.startsWith('https:') ?? false,
    hstsSubdomains,
    hosts: [publicUrl === undefined ? host : new URL(publicUrl).hostname, ...allowedHosts],
    allowedOrigins,
    returnUrls,
    trustedProxies: rangesOf(trustedProxies),
    ...cookies,
    variant,
  }
}

/** With a path, `__Secure-` and not `__Host-`, which requires `Path=/` (docs/decisions/0021-client-addresses.md). */
function cookiesOf({ publicUrl, sessionLifetimeMs }: Config): Cookies {
  const { protocol, pathname: path } = new URL(publicUrl ?? 'http://localhost')
  const isSecure = protocol === 'https:'
  const prefix = !isSecure ? '' : path === '/' ? '__Host-' : '__Secure-'
  return {
    cookie: { name: `${prefix}carillon`, path, isSecure, lifetimeMs: sessionLifetimeMs },
    deviceCookie: { name: `${prefix}carillon-device`, path, isSecure, lifetimeMs: deviceCookieLifetimeMs },
  }
}
