// Where a notification may lead: http, https, or a place on the page's own host. Everything else is refused when it is
// sent, so that no reader has to be careful.

// Browsers strip tabs and line breaks from a URL and read a backslash as a slash (WHATWG URL, section 4.4).
const neverInALink = /[\s\\\p{Cc}\p{Cf}]/u
const ownHost = 'https://own-host.invalid'

/** Why the link is refused, or undefined where it is fine. */
export function linkFault(link: string): string | undefined {
  const reason = 'must be an http or https URL, or a path on the own host such as /orders/7'
  if (neverInALink.test(link) || link.startsWith('//')) return reason
  const url = URL.parse(link, ownHost)
  if (url === null) return reason
  if (/^https?:\/\/[^/]/i.test(link)) return url.username === '' && url.password === '' ? undefined : reason
  // `https:evil.example` is a path on a page of the same scheme and another host on any other.
  return url.origin === ownHost && !/^https?:/i.test(link) ? undefined : reason
}
