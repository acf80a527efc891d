// Applications can use each link as it is: http, https or a path.
import { parseTime } from '../basics/clock.ts'
import type { Fault } from '../basics/errors.ts'
import { categoryFault } from '../inbox/category-name.ts'
import { languageFaults } from '../users/profile.ts'
import type { GivenContent } from './delivery.schemas.ts'

const maxDataBytes = 8 * 1024
/** All languages together may have twice the title and body of one. */
const maxTextBytes = 32 * 1024

export type ContentRules = { at: number; imageHosts: readonly string[] }

export function contentFaults(
  content: Partial<GivenContent>,
  { at, imageHosts }: ContentRules,
): Fault[] {
  const { title, body, url, category, data, actor, icon, actions, expiresAt } = content
  const faults: Fault[] = []
  const note = (field: string, reason: string | undefined) => {
    if (reason !== undefined) faults.push({ field, reason })
  }
  if (url !== undefined) note('url', linkFault(url))
  for (const [n, action] of (actions ?? []).entries())
    note(`actions.${n}.url`, linkFault(action.url))
  if (typeof category === 'string') note('category', categoryFault(category))
  if (actor?.imageUrl != null) note('actor.imageUrl', imageFault(actor.imageUrl, imageHosts))
  if (typeof icon === 'object') note('icon.imageUrl', imageFault(icon.imageUrl, imageHosts))
  if ([title, body].some((text) => typeof text === 'object')) {
    faults.push(...languageFaults({ title, body }))
    note('body', tooLong({ title, body }, maxTextBytes, ' with title, in all languages'))
  }
  note('data', tooLong(data, maxDataBytes))
  if (content.format === 'markdown')
    for (const { field, text } of textsOf(body)) note(field, markdownFault(text))
  if (expiresAt !== undefined && !(parseTime(expiresAt) > at))
    note('expiresAt', 'must be in the future, and before the year 10000')
  return faults
}

function tooLong(value: unknown, maxBytes: number, what = ''): string | undefined {
  const bytes = value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))
  return bytes > maxBytes ? `must be at most ${maxBytes} bytes as JSON${what}` : undefined
}

function textsOf(body: GivenContent['body']): { field: string; text: string }[] {
  if (typeof body === 'string') return [{ field: 'body', text: body }]
  return Object.entries(body ?? {}).map(([language, text]) => ({ field: `body.${language}`, text }))
}

const marks = /\\[\\`*[\]]|```(?:[^`]|`(?!``))+?```|`[^`\n]+`|\]\(([^\s()]+)\)/g

/** The bell applies the same rule (element/inbox/view/links.ts). */
function markdownFault(text: string): string | undefined {
  for (const [, link] of text.matchAll(marks)) {
    const reason = link === undefined ? undefined : linkFault(link)
    if (reason !== undefined)
      return `has the link ${JSON.stringify(link?.slice(0, 80))}, which ${reason}`
  }
  return undefined
}

// Browsers strip tabs, and take a backslash for a slash (WHATWG URL, section 4.4).
const neverInALink = /[\s\\\p{Cc}\p{Cf}]/u
const plainPath = /^\/(?:[\w.~-][\w.~/?=&-]*)?$/
/** Parsing takes time in the square of a name's length. DNS has 253 characters (RFC 1035, 3.1). */
const longHost = /^\w+:\/\/[^/?#]{256}/
const ownHost = 'https://own-host.invalid'
const form = 'must be an http or https URL, or a path that begins with /'

function linkFault(link: string): string | undefined {
  if (plainPath.test(link)) return undefined
  // A page resolves a relative link against its path, and the bell is on many pages.
  const isPath = link.startsWith('/') && !link.startsWith('//')
  const isUrl = /^https?:\/\/[^/]/i.test(link)
  if (neverInALink.test(link) || (!isPath && !isUrl)) return suggestionFor(link)
  if (longHost.test(link)) return 'must have a host of at most 255 characters'
  const url = URL.parse(link, ownHost)
  if (url === null) return form
  if (url.username !== '' || url.password !== '') return `${form}, without a user name`
  return isPath && url.origin !== ownHost ? form : undefined
}

function suggestionFor(link: string): string {
  return /^[\w~][\w.~/?=&-]*$/.test(link) ? `${form}: write /${link}` : `${form}, such as /orders/7`
}

/** The pages' policy lets browsers load no other images. */
function imageFault(link: string, hosts: readonly string[]): string | undefined {
  const fault = linkFault(link)
  if (fault !== undefined || link.startsWith('/')) return fault
  const { hostname, port } = new URL(link)
  if (!hosts.includes(hostname))
    return `must be a path such as /ada.png, or a URL of a host in CARILLON_IMAGE_HOSTS (${hosts.join(', ') || 'none'})`
  // In a policy, a host without a port means the usual port (CSP 3, section 6.7.2.8).
  return port === ''
    ? undefined
    : `must have no port: pages load images of ${hostname} from the usual port only`
}
