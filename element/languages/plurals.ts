// Texts with a number, in the plural forms of a language (Unicode CLDR: Arabic has six). `#` is the number.

/** `other` is for every form that is not here. */
export type Forms = { readonly other: string } & { readonly [form in Intl.LDMLPluralRule]?: string }
/** `format` writes the number; default: in the digits of the locale. */
export type Plurals = (forms: Forms, format?: (count: number) => string) => (count: number) => string

export function pluralsOf(locale: string): Plurals {
  const rules = new Intl.PluralRules(locale)
  const numbers = new Intl.NumberFormat(locale)
  return (forms, format = numbers.format) =>
    (count) =>
      (forms[rules.select(count)] ?? forms.other).replace('#', format(count))
}

/** A number above 99 as `99+`, in the digits of the locale. */
export function badgeOf(locale: string): (count: number) => string {
  const { format } = new Intl.NumberFormat(locale)
  return (count) => (count > 99 ? `${format(99)}+` : format(count))
}
