// Plural forms (Unicode CLDR). `#` is the number.

type Forms = { readonly other: string } & { readonly [form in Intl.LDMLPluralRule]?: string }
export type Plurals = (forms: Forms) => (count: number) => string

export function pluralsOf(locale: string): Plurals {
  const rules = new Intl.PluralRules(locale)
  const numbers = new Intl.NumberFormat(locale)
  return (forms) => (count) =>
    (forms[rules.select(count)] ?? forms.other).replace('#', numbers.format(count))
}
