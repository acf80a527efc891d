// Why the content of a delivery is refused, beyond its schema: links other than http, https or a path, so that an application can use every
// link as it is; images of other hosts, languages, the size of its data, its end.
import { parseTime } from '../basics/clock.ts'
import type { Fault } from '../basics/errors.ts'
import { languageFaults } from '../users/profile.ts'
import type { GivenContent } from './delivery.schemas.ts'

const maxDataBytes = 8 * 1024
/** The limit of title and body in all languages together: twice what they need in one. */
const maxTextBytes = 32 * 1024

/** `at`: the time that users see. `imageHosts`: the hosts of absolute image URLs. */
export type ContentRules = { at: number; imageHosts: readonly string[] }

/** None if the content can be sent. */
export function contentFaults(content: Partial<GivenContent>, { at, imageHosts }: ContentRules): Fault[] {
  const { title, body, url, data, actor, icon, actions, expiresAt } = content
  const faults: Fault[] = []
  const note = (field: string, reason: string | undefined) => {
    if (reason !== undefined) faults.push({ field, reason })
  }
  if (url !== undefined) note('url', linkFault(url))
  for (const [n, action] of (actions ?? []).entries()) note(`actions.${n}.url`, linkFault(action.url))
  if (actor?.imageUrl != null) note('actor.imageUrl', imageFault(actor.imageUrl, imageHosts))
  if (typeof icon === 'object') note('icon.imageUrl', imageFault(icon.imageUrl, imageHosts))
  if ([title, body].some((text) => typeof text === 'object')) {
    faults.push(...languageFaults({ title, body }))
    note('body', tooLong({ title, body }, maxTextBytes, ' with title, in all languages'))
  }
  note('data', tooLong(data, maxDataBytes))
  if (expiresAt !== undefined && !(parseTime(expiresAt) > at))
    note('expiresAt', 'must be in the future, and before the year 10000')
  return faults
}

function tooLong(value: unknown, maxBytes: number, what = ''): string | undefined {
  const bytes = value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))
  return bytes > maxBytes ? `must be at most ${maxBytes} bytes as JSON${what}` : undefined
}

// Browsers strip tabs and line breaks from a URL and read a backslash as a slash (WHATWG URL, section 4.4).
const neverInALink = /[\s\\\p{Cc}\p{Cf}]/u
/** The usual link: every browser takes it as a path. */
const plainPath = /^\/(?:[\w.~-][\w.~/?=&-]*)?$/
const ownHost = 'https://own-host.invalid'

/** Why the link is refused, or undefined if it is valid. */
function linkFault(link: string): string | undefined {
  if (plainPath.test(link)) return undefined
  const reason = 'must be an http or https URL, or a path such as /orders/7'
  if (neverInALink.test(link) || link.startsWith('//')) return reason
  const url = URL.parse(link, ownHost)
  if (url === null) return reason
  if (/^https?:\/\/[^/]/i.test(link)) return url.username === '' && url.password === '' ? undefined : reason
  // Browsers read `https:evil.example` as a path if the page's own scheme is https, and as another host if it is not.
  return url.origin === ownHost && !/^https?:/i.test(link) ? undefined : reason
}

/** Why the URL of an image is refused: it is no valid link, or a browser would load it from a host that is not one of `hosts`. */
function imageFault(url: string, hosts: readonly string[]): string | undefined {
  const fault = linkFault(url)
  if (fault !== undefined || !/^https?:/i.test(url) || hosts.includes(new URL(url).hostname)) return fault
  return `must be a path such as /ada.png, or a URL of a host in CARILLON_IMAGE_HOSTS (${hosts.join(', ') || 'none'})`
}
