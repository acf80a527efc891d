/** For a browser, `localhost` and `127.0.0.1` are two sites. */
export function otherSiteOf(host: string): string | null {
  const [, name, port = ''] = /^(localhost|127\.0\.0\.1)(:\d+)?$/.exec(host) ?? []
  if (name === undefined) return null
  const other = name === 'localhost' ? '127.0.0.1' : 'localhost'
  return `http://${other}${port}`
}
