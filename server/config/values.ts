// A reader for each kind of value. It throws what to write instead: the end of "CARILLON_X is ...".
import { isIP, isIPv6 } from 'node:net'
import { resolve } from 'node:path'
import { CarillonError, type Fault } from '../basics/errors.ts'
import { coverEverything, formatRange, parseRange } from '../basics/ip-addresses.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour
const units: Record<string, number> = { ms: 1, s: second, m: minute, h: hour, d: day }

/** RFC 6265bis, section 5.5: browsers keep cookies for 400 days, so no sign-in lives longer. */
export const maxLifetime = 400 * day

export type SettingFault = Fault & { remedy?: string }

export function invalid(reason: string, remedy?: string): never {
  throw new CarillonError('INVALID_REQUEST', reason, { remedy })
}

export const applicationForm = '1 to 64 of the characters a-z, 0-9 and -'

export function isApplication(name: unknown): name is string {
  return typeof name === 'string' && /^[a-z0-9-]{1,64}$/.test(name)
}

/** RFC 1123, section 2.1. */
function isHostName(text: string): boolean {
  const label = '[a-z0-9]([a-z0-9-]*[a-z0-9])?'
  return (
    new RegExp(`^${label}(\\.${label})*$`, 'i').test(text) &&
    !/(^|\.)\d+$/.test(text) &&
    text.length < 254
  )
}

export function readHost(text: string): string {
  if (isIP(text) || isHostName(text)) return text
  return invalid('write an address or a host name, such as 127.0.0.1, ::1 or localhost')
}

export function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max
      ? value
      : invalid(`write a whole number from ${min} to ${max}`)
  }
}

export function duration(min: number, max: number): (text: string) => number {
  return (text) => {
    const [, count, unit] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text === '0' ? '0s' : text) ?? []
    if (!count || !unit)
      invalid('write a whole number and its unit, such as 500ms, 30s, 15m, 12h or 30d')
    const value = Number(count) * (units[unit] ?? Number.NaN)
    if (value >= min && value <= max) return value
    return invalid(`write a duration from ${formatDuration(min)} to ${formatDuration(max)}`)
  }
}

export function formatDuration(ms: number): string {
  const [unit, size] = Object.entries(units).findLast(([, length]) => ms % length === 0) ?? [
    'ms',
    1,
  ]
  return `${ms / size}${unit}`
}

export function readTimeOfDay(text: string): number {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  if (hours === undefined) return invalid('write hours and minutes in UTC, such as 03:00')
  return Number(hours) * hour + Number(minutes) * minute
}

export function readFolder(text: string): string {
  return resolve(text)
}

export const mailRules = ['off', '5m', '15m', '1h', 'hourly', 'daily', 'weekly'] as const

export function oneOf<const T extends string>(words: readonly T[]): (text: string) => T {
  return (text) =>
    words.find((word) => word === text) ?? invalid(`write one of ${words.join(', ')}`)
}

export function readSwitch(text: string): boolean {
  return text === 'on' || (text === 'off' ? false : invalid('write on or off'))
}

const matching = (pattern: RegExp, advice: string) => (text: string) =>
  pattern.test(text) ? text : invalid(advice)

export const readSecret = matching(
  /^.{32,}$/su,
  'write at least 32 random characters, such as the output of openssl rand -hex 32',
)

export const readProducerKey = matching(
  /^crl_[!-~]+$/,
  'write the whole key, as carillon key add printed it: crl_<id>_<secret>',
)

export function readServiceUrl(text: string): string {
  // A URL parser would resolve `.` and `..`.
  const url = /^(?!.*\/\.{1,2}(?:\/|$))https?:\/\/[^\s/?#\\@]+(?:\/[\w.~-]+)*\/?$/i.test(text)
    ? URL.parse(text)
    : null
  if (url !== null) return url.href.replace(/\/$/, '')
  return invalid(
    'write only scheme, host and port, perhaps with a path (no query, fragment or user), such as https://bell.example.org',
  )
}

/** A token is added as the fragment. */
export function readPage(text: string): string {
  const page = readServiceUrl(text)
  if (isExposed(page))
    invalid(
      'write https://: others on the network could put a script into the page and read the token',
    )
  // A program that looks for the token must find only that.
  if (/[\w-]{43}/.test(page))
    invalid('write a URL without 43 letters, digits, - and _ in a row: the token has so many')
  return page
}

/** The service at this URL gets five digits of a hash. The network must not change its answer. */
export function readBreachUrl(text: string): string {
  if (text === 'off') return text
  const url = readServiceUrl(text)
  return isExposed(url) ? invalid('write https://, or off') : url
}

/** `isTls`: TLS from the first byte; otherwise by STARTTLS. */
export function readSmtpUrl(text: string) {
  const url = /^smtps?:\/\/[^\s/?#]+\/?$/i.test(text) ? URL.parse(text) : null
  if (url === null || url.hostname === '')
    return invalid(
      'write smtps:// or smtp://, perhaps user and password, and host, such as smtps://user:password@mail.example.org',
    )
  const isTls = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const usualPort = isTls ? 465 : 587
  const port = Number(url.port || usualPort)
  try {
    const auth = { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) }
    return { host, port, isTls, auth: auth.user === '' ? undefined : auth }
  } catch {
    return invalid('encode the password: a % in it is written as %25')
  }
}

export function readMailFrom(text: string): { name: string; address: string } {
  const [, name = '', inBrackets, alone] =
    /^(?:([^<>"\p{Cc}]*)<([^\s<>@\p{Cc}]+@[^\s<>@\p{Cc}]+)>|([^\s<>@\p{Cc}]+@[^\s<>@\p{Cc}]+))$/u.exec(
      text,
    ) ?? []
  const address = inBrackets ?? alone
  if (address !== undefined) return { name: name.trimEnd(), address }
  return invalid('write an address, such as bell@example.org or Bell <bell@example.org>')
}

export function readContact(text: string): string {
  if (/^[^\s<>@:\p{Cc}]+@[^\s<>@:\p{Cc}]+$/u.test(text)) return `mailto:${text}`
  const isUri = /^(https:\/\/|mailto:|tel:)[!-~]+$/.test(text) && URL.canParse(text)
  return isUri
    ? text
    : invalid('write an address such as security@example.org, or a URL of https:, mailto: or tel:')
}

function listOf(readOne: (text: string) => string): (text: string) => readonly string[] {
  return (text) =>
    Object.freeze(text === 'none' ? [] : text.split(',').map((part) => readOne(part.trim())))
}

export const readOrigins = listOf(readExactOrigin)
export const readReturnUrls = listOf(readExactUrl)
export const readHosts = listOf(readHostName)

export const readPushHosts = listOf((text) => {
  const [, host = '', port] = /^(.*?)(?::(\d{1,5}))?$/.exec(text) ?? []
  if (!isHostName(host) && isIP(host) === 0)
    invalid('write host names, perhaps with a port, such as push.example.org or localhost:9100')
  const url = URL.parse(`https://${text}`)
  return url !== null && port !== '0' ? url.host : invalid('write a port from 1 to 65535')
})

/** Refuses ranges that together are every address, such as 0.0.0.0/1 and 128.0.0.0/1. */
export function readProxies(text: string): readonly string[] {
  const proxies = listOf(readRange)(text)
  if (coverEverything(proxies))
    invalid(
      `${text} trusts every client, so that a client can claim any address`,
      'list the proxies',
    )
  return proxies
}

/** RFC 6454, section 4, as browsers write it. */
function readExactOrigin(text: string): string {
  if (text.includes('*'))
    invalid(
      'patterns are refused, because every matching page could act for your users',
      'list the origins',
    )
  const url = /^https?:\/\/[^\s/?#\\@]+\/?$/i.test(text) ? URL.parse(text) : null
  if (url === null)
    return invalid(
      'write only scheme, host and port (no path, query or user), such as https://bell.example.org',
    )
  return url.origin === text
    ? text
    : invalid(`write ${url.origin}, as browsers send it, instead of ${text}`)
}

/** A code is added as the fragment. */
function readExactUrl(text: string): string {
  const url = /^https?:\/\//.test(text) ? URL.parse(text) : null
  if (url === null || text.includes('#') || url.username !== '' || url.password !== '')
    return invalid(
      'write whole URLs without user and fragment, such as https://app.example.org/signed-in',
    )
  return url.href === text
    ? text
    : invalid(`write ${url.href}, as browsers send it, instead of ${text}`)
}

function readHostName(text: string): string {
  const name = text.replace(/\.$/, '')
  if (!isHostName(name))
    invalid('write only host names (no scheme, port or pattern), such as carillon.internal')
  return name.toLowerCase()
}

function readRange(text: string): string {
  const range = parseRange(text)
  const form = 'write addresses or CIDR ranges, such as 127.0.0.1, ::1 or 10.0.0.0/8'
  if (range === undefined)
    return invalid(`${JSON.stringify(text.slice(0, 80))} is not an address`, form)
  const formatted = formatRange(range)
  const remedy = `write ${formatted} for the range, or ${range.address} for the single address`
  if (parseRange(formatted)?.address !== range.address)
    invalid(`${text} has bits after its prefix`, remedy)
  return formatted
}

/** RFC 6890; RFC 6761, section 6.3. */
export function isLoopback(host: string): boolean {
  const hostname = URL.parse(`http://${isIPv6(host) ? `[${host}]` : host}`)?.hostname ?? ''
  return (
    hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname) || /(^|\.)localhost$/.test(hostname)
  )
}

export function isExposed(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname))
}

const path = matching(
  /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]{1,40}){1,4}$/,
  'write / or a path without a slash at its end, such as /hello',
)
export const readPrefix = (text: string): string => (text === '/' ? '' : path(text))

export const readName = matching(
  /^(?!\s)[^\p{Cc}\p{Cs}]{1,40}(?<!\s)$/u,
  'write a name of 1 to 40 characters',
)

export const readLogo = matching(
  /\.(?:svg|png)$/i,
  'write the path of a file that ends with .svg or .png',
)

const colour = matching(/^#[\da-f]{6}$/i, 'write a colour as # and six digits, such as #0a7d4f')
export const readColour = (text: string): string => colour(text).toLowerCase()
