// Finds and masks a password, also in a text that is no valid URL.

export function hasPassword(text: string): boolean {
  const url = URL.parse(text)
  if (url === null) return afterUser(text) !== undefined
  if (url.password !== '' || /%3a/i.test(url.username)) return true
  return [...url.searchParams.keys()].some((name) => /pass/i.test(name))
}

export function maskPasswords(text: string): string {
  if (text.startsWith('sqlite:')) return text
  const password = afterUser(text)
  const masked = password ? `${text.slice(0, password.from)}***${text.slice(password.to)}` : text
  return masked.replace(/([?&][^=&?]*=)[^&]*/g, (pair, name: string) =>
    /pass/i.test(name) ? `${name}***` : pair,
  )
}

/** From the colon after the scheme's to the last `@`. */
function afterUser(text: string): { from: number; to: number } | undefined {
  const from = text.search(/:(?!\/\/)/) + 1
  const to = text.lastIndexOf('@')
  return from === 0 || to < from ? undefined : { from, to }
}
