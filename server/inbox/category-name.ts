// Which names of categories are refused: lists, preferences and logs display them, and programs use them as names of members.

const lineBreaksAndControls = /[\p{Cc}\p{Zl}\p{Zp}]/u

/** Why a category cannot have this name, or undefined if it can. Its length is in the schema. */
export function categoryFault(name: string): string | undefined {
  if (lineBreaksAndControls.test(name)) return 'must have no line breaks and no other control characters'
  // An assignment to such a member of a JavaScript object changes its prototype, and the category is lost.
  if (name === '__proto__') return 'must not be __proto__: write another name'
  return undefined
}
