// Which names of categories are refused? Programs use them as names of members.
const lineBreaksAndControls = /[\p{Cc}\p{Zl}\p{Zp}]/u

export function categoryFault(name: string): string | undefined {
  if (lineBreaksAndControls.test(name))
    return 'must have no line breaks and no other control characters'
  if (name === '__proto__') return 'must not be __proto__: write another name'
  return undefined
}
