// Where may a browser be sent after a sign-in? To a path here, or to a page of an allowed origin; never to a site that a link chose
// (P1, an open redirect).

/** Characters. It travels in a cookie, of which a browser stores 4 KiB. */
export const maxReturnToLength = 1_024

type Places = {
  /** Without a slash at its end. */
  publicUrl: string
  /** Exactly as browsers write them. */
  allowedOrigins: readonly string[]
}

/**
 * The text for `Location`, or undefined if `text` is neither a path that begins with one slash, nor a URL whose origin is that of the
 * public URL or in the list, byte by byte. Browsers read a backslash as a slash, and leave out tabs and line breaks (URL Standard,
 * section 4.4), so a text with one of them is refused before it is parsed.
 */
export function returnTo(text: string, { publicUrl, allowedOrigins }: Places): string | undefined {
  if (text.length > maxReturnToLength || /[\\\p{C}\p{Z}]/u.test(text)) return undefined
  const here = new URL(publicUrl).origin
  if (text.startsWith('/')) return pathHere(text, here)
  const isOf = (one: string) => text.startsWith(one) && /^(?:[/?#]|$)/.test(text.slice(one.length))
  const origin = [here, ...allowedOrigins].find(isOf)
  if (origin === undefined) return undefined
  const url = URL.parse(text)
  return url?.origin === origin && url.username === '' && url.password === '' ? url.href : undefined
}

/** A path with `..` may begin with two slashes once it is resolved: `/.//host` is such a path. */
function pathHere(text: string, here: string): string | undefined {
  const url = URL.parse(text, here)
  if (url === null || url.origin !== here || text.startsWith('//') || url.pathname.startsWith('//')) return undefined
  return url.pathname + url.search + url.hash
}
