import { readFileSync, statSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { messageOf, unavailable } from '../basics/errors.ts'
import { rangesOf } from '../basics/ip-addresses.ts'
import type { Config } from '../config/settings.ts'
import { isLoopback } from '../config/values.ts'
import { relyingPartyFor } from '../factors/passkeys/ceremonies.ts'
import type { Cookie, Site } from '../http/site.ts'
import type { PageSettings } from '../pages/page.ts'

/** Browsers keep no cookie longer (RFC 6265bis, section 5.5). */
const deviceCookieLifetimeMs = 400 * 24 * 3_600_000
const maxLogoBytes = 256 * 1024

export type Cookies = { cookie: Cookie; deviceCookie: Cookie }

export function siteOf(
  config: Config,
  url: () => string,
  cookies: Cookies = cookiesOf(config),
): Site {
  const {
    publicUrl,
    host,
    allowedHosts,
    allowedOrigins,
    returnUrls,
    hstsSubdomains,
    trustedProxies,
    variant,
  } = config
  return {
    hstsSubdomains,
    allowedOrigins,
    returnUrls,
    variant,
    ...cookies,
    publicUrl: url,
    isHttps: publicUrl?.startsWith('https:') ?? false,
    hosts: [publicUrl === undefined ? host : new URL(publicUrl).hostname, ...allowedHosts],
    trustedProxies: rangesOf(trustedProxies),
  }
}

/** Throws UNAVAILABLE if demanded passkeys are impossible in browsers here. */
export function refuseWithoutPasskeys({
  secondFactor,
  publicUrl,
  host,
  allowedOrigins,
}: Config): void {
  if (secondFactor !== 'passkey') return
  const url = publicUrl ?? `http://${isIPv6(host) ? `[${host}]` : host}`
  try {
    relyingPartyFor({ site: { publicUrl: () => url, allowedOrigins } }, { headers: {} })
  } catch (error) {
    throw unavailable(`CARILLON_SECOND_FACTOR=passkey cannot be satisfied: ${messageOf(error)}`)
  }
}

/** `__Host-` requires `Path=/` (docs/decisions/0021-client-addresses.md). */
function cookiesOf({ publicUrl, sessionLifetimeMs }: Config): Cookies {
  const { protocol, pathname: path } = new URL(publicUrl ?? 'http://localhost')
  const isSecure = protocol === 'https:'
  const securePrefix = path === '/' ? '__Host-' : '__Secure-'
  const prefix = isSecure ? securePrefix : ''
  return {
    cookie: { name: `${prefix}carillon`, path, isSecure, lifetimeMs: sessionLifetimeMs },
    deviceCookie: {
      name: `${prefix}carillon-device`,
      path,
      isSecure,
      lifetimeMs: deviceCookieLifetimeMs,
    },
  }
}

/** Throws UNAVAILABLE if the picture cannot be read. */
export function pageSettings(config: Config): PageSettings {
  const { pagesPrefix: prefix, pagesName: name, accent, securityContact, imageHosts } = config
  const ofReaders = demonstrationSettings(config)
  return {
    ...ofReaders,
    prefix,
    name,
    accent,
    securityContact,
    imageHosts,
    demonstrationPlaces: config.demonstrationPlaces,
    logo: config.logo === undefined ? undefined : readLogo(config.logo),
    hasDocumentationLink: config.documentationLink ?? ofReaders.isHere,
    hasMail: config.smtpUrl !== undefined,
    hasOperatorPage: config.operatorPage ?? isWithoutPath(config),
  }
}

/** Scripts of an application on that host could act as an operator who reads the page. */
function isWithoutPath({ publicUrl = 'http://localhost' }: Config): boolean {
  return new URL(publicUrl).pathname === '/'
}

/** Only readers on this machine, unless a setting says otherwise. */
export function demonstrationSettings({ host, publicUrl, allowedHosts, demonstration }: Config) {
  const names = [
    host,
    ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname]),
    ...allowedHosts,
  ]
  const isHere = names.every(isLoopback)
  return { isHere, hasDemonstration: demonstration ?? isHere }
}

function readLogo(path: string): PageSettings['logo'] {
  try {
    if (statSync(path).size > maxLogoBytes)
      throw new Error(`it has more than ${maxLogoBytes / 1024} KiB`)
    return { bytes: readFileSync(path), type: /\.png$/i.test(path) ? 'image/png' : 'image/svg+xml' }
  } catch (cause) {
    throw unavailable(`The picture of CARILLON_LOGO cannot be used: ${messageOf(cause)}`)
  }
}
