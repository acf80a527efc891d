// How is the text of a setting read? One function a kind of value: the value, or what would be right. A reason begins
// where "CARILLON_X is ...; " ends. Which setting takes which kind is said in config.ts.

import { isIP, isIPv6 } from 'node:net'
import { CarillonError } from './errors.ts'

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour
export const units: Record<string, number> = { ms: 1, s: second, m: minute, h: hour, d: day }

/** Browsers keep a cookie 400 days at most (RFC 6265bis, section 5.5), so no sign-in is promised for longer. */
export const longest = 400 * day

export function unfit(reason: string): never {
  throw new CarillonError('INVALID_REQUEST', reason)
}

export function readHost(text: string): string {
  const label = '[a-z0-9]([a-z0-9-]*[a-z0-9])?'
  const isName = new RegExp(`^${label}(\\.${label})*$`, 'i').test(text) && !/(^|\.)\d+$/.test(text) && text.length < 254
  return isIP(text) || isName ? text : unfit('write an address or a host name, such as 127.0.0.1, ::1 or localhost')
}

export function integer(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    return value >= least && value <= most ? value : unfit(`write a whole number from ${least} to ${most}`)
  }
}

export function duration(least: number, most: number): (text: string) => number {
  return (text) => {
    const [, count, unit] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text) ?? []
    if (!count || !unit) unfit('write a number and its unit, such as 500ms, 30s, 15m, 12h or 30d')
    const value = Number(count) * (units[unit] ?? Number.NaN)
    return value >= least && value <= most
      ? value
      : unfit(`write a duration from ${written(least)} to ${written(most)}`)
  }
}

/** Milliseconds as they would be set, in the largest unit that divides them: 604800000 -> `7d`. */
export function written(ms: number): string {
  const [unit, size] = Object.entries(units).findLast(([, length]) => ms % length === 0) ?? ['ms', 1]
  return `${ms / size}${unit}`
}

export function oneOf<const T extends string>(words: readonly T[]): (text: string) => T {
  return (text) => words.find((word) => word === text) ?? unfit(`write one of ${words.join(', ')}`)
}

export function readSwitch(text: string): boolean {
  return text === 'on' || (text === 'off' ? false : unfit('write on or off'))
}

export function readSecret(text: string): string {
  return [...text].length >= 32
    ? text
    : unfit('write at least 32 random characters, such as openssl rand -hex 32 prints')
}

export function readProducerKey(text: string): string {
  return /^crl_[!-~]+$/.test(text) ? text : unfit('write the key as it was shown when it was made: crl_<id>_<secret>')
}

export function readDatabaseUrl(text: string): string {
  return /^[a-z][a-z0-9+.-]*:\S/i.test(text) ? text : unfit('write scheme:rest, such as sqlite:data/carillon.db')
}

/** An origin of http or https (RFC 6454, section 4). One slash at the end is forgiven and dropped. */
export function readOrigin(text: string): string {
  const url = /^https?:\/\/[^\s/?#\\@]+\/?$/i.test(text) ? URL.parse(text) : null
  return url
    ? url.origin
    : unfit('write scheme, host and port alone (no path, query or user), such as https://bell.example.org')
}

export function readOrigins(text: string): readonly string[] {
  if (text === 'none') return Object.freeze([])
  return Object.freeze(text.split(',').map((part) => readExactOrigin(part.trim())))
}

/** Compared with the `Origin` header byte for byte, so it has to be written as browsers write it. */
export function readExactOrigin(text: string): string {
  if (text.includes('*'))
    unfit('no pattern is accepted, as every page it covers could act for your users; list the origins')
  const origin = readOrigin(text)
  return origin === text ? origin : unfit(`write ${origin}, as browsers send it, in place of ${text}`)
}

/** 127.0.0.0/8 and ::1 (RFC 6890), localhost and below (RFC 6761, section 6.3). */
export function isLoopback(host: string): boolean {
  const hostname = URL.parse(`http://${isIPv6(host) ? `[${host}]` : host}`)?.hostname ?? ''
  return hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname) || /(^|\.)localhost$/.test(hostname)
}
