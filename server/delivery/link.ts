// Refuses links of a producer other than http, https or a path, so that an application can use every link as it is; and images of other hosts.

// Browsers strip tabs and line breaks from a URL and read a backslash as a slash (WHATWG URL, section 4.4).
const neverInALink = /[\s\\\p{Cc}\p{Cf}]/u
/** The usual link: every browser takes it as a path. */
const plainPath = /^\/(?:[\w.~-][\w.~/?=&-]*)?$/
const ownHost = 'https://own-host.invalid'

/** Why the link is refused, or undefined if it is valid. */
export function linkFault(link: string): string | undefined {
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
export function imageFault(url: string, hosts: readonly string[]): string | undefined {
  const fault = linkFault(url)
  if (fault !== undefined || !/^https?:/i.test(url) || hosts.includes(new URL(url).hostname)) return fault
  return `must be a path such as /ada.png, or a URL of a host in CARILLON_IMAGE_HOSTS (${hosts.join(', ') || 'none'})`
}
