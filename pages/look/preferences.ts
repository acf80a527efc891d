// What a reader prefers on this device: kept in the browser, and read by the pages. It is no setting of the user's account.

export const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const name = 'carillon-theme'

export function themeOf(text: string | null): Theme {
  return themes.find((theme) => theme === text) ?? 'auto'
}

export const keptTheme = (): Theme => themeOf(read())

/** False if the browser keeps nothing for this site. */
export const keepTheme = (theme: Theme): boolean => write(theme === 'auto' ? null : theme)

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

/** A browser that blocks the storage of a site throws. */
function read(): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

function write(value: string | null): boolean {
  try {
    if (value === null) localStorage.removeItem(name)
    else localStorage.setItem(name, value)
    return true
  } catch {
    return false
  }
}
