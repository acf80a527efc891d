// A device in the words of its user, such as "Firefox on Linux", from the User-Agent field. A client can send any text there, so the label is
// made of our own words, or of one short product name, and decides nothing by itself.

/** The first that matches: browsers also name the browsers that they are built on. */
const browsers: readonly [name: string, shape: RegExp][] = [
  ['Edge', /\bEdg(e|A|iOS)?\//],
  ['Opera', /\b(OPR|Opera|OPiOS)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Chrome|CriOS|HeadlessChrome|Chromium)\//],
  ['Safari', /\bVersion\/[\d.]+ .*\bSafari\//],
]
const systems: readonly [name: string, shape: RegExp][] = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\b(iPhone|iPod)\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\b(Mac OS X|Macintosh)\b/],
  ['Linux', /\bLinux\b/],
]
/** RFC 9110, section 10.1.5: a product, usually with a version. */
const product = /^([A-Za-z][\w.-]{0,31})(?:[/ ;(]|$)/

/** Null without a field, or with one that says nothing. */
export function deviceLabel(userAgent: string | null): string | null {
  if (userAgent === null) return null
  const find = (known: typeof browsers) => known.find(([, shape]) => shape.test(userAgent))?.[0]
  const [browser, system] = [find(browsers), find(systems)]
  const [, program] = product.exec(userAgent) ?? []
  const name = browser ?? (program === 'Mozilla' ? 'A browser' : program)
  if (name === undefined) return null
  return system === undefined ? name : `${name} on ${system}`
}
