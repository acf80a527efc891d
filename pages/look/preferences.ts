// What a reader prefers on this device: kept in the browser, and read by the pages. It is no setting of the user's account.

export const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const name = 'carillon-theme'

function themeOf(text: string | null): Theme {
  return themes.find((theme) => theme === text) ?? 'auto'
}

/** A browser that blocks the storage of a site throws. */
export function keptTheme(): Theme {
  try {
    return themeOf(localStorage.getItem(name))
  } catch {
    return 'auto'
  }
}

/** False if the browser keeps nothing for this site. */
export function keepTheme(theme: Theme): boolean {
  try {
    if (theme === 'auto') localStorage.removeItem(name)
    else localStorage.setItem(name, theme)
    return true
  } catch {
    return false
  }
}

/** Calls `listen` when another tab changes the theme. */
export function onThemeChange(listen: (theme: Theme) => void): void {
  addEventListener('storage', ({ key, newValue }) => {
    // The whole storage was cleared if there is no key.
    if (key === name || key === null) listen(themeOf(newValue))
  })
}

/** `auto` follows the system. */
export function displayTheme(theme: Theme): void {
  const { dataset } = document.documentElement
  if (theme === 'auto') delete dataset.theme
  else dataset.theme = theme
}
