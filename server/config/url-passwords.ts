// Is there a password in a text that was written as a URL, and how is the text displayed without it? Neither needs a
// text that can be parsed.

export function hasPassword(text: string): boolean {
  const url = URL.parse(text)
  if (url === null) return afterUser(text) !== undefined
  // A percent-encoded colon belongs to the user's name, but the operator meant it to begin a password.
  if (url.password !== '' || /%3a/i.test(url.username)) return true
  return [...url.searchParams.keys()].some((name) => /pass/i.test(name))
}

/** Masks from the colon after the user to the last `@`: too much rather than too little. */
export function maskPasswords(text: string): string {
  if (text.startsWith('sqlite:')) return text
  const password = afterUser(text)
  const masked = password ? `${text.slice(0, password.from)}***${text.slice(password.to)}` : text
  return masked.replace(/([?&][^=&?]*=)[^&]*/g, (pair, name: string) => (/pass/i.test(name) ? `${name}***` : pair))
}

/** From the colon that is not of the scheme to the last `@`. */
function afterUser(text: string): { from: number; to: number } | undefined {
  const from = text.search(/:(?!\/\/)/) + 1
  const to = text.lastIndexOf('@')
  return from === 0 || to < from ? undefined : { from, to }
}
