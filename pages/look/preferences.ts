// What a reader prefers on this device: kept in the browser, and read by the pages. It is no setting of the user's account.

export const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const name = 'carillon-theme'

function themeOf(text: string | null): Theme {
  return themes.find((theme) => theme === text) ?? 'auto'
}

/** Uses the storage of this site. False if the browser blocks it, and throws. */
export function attempt(use: () => unknown): boolean {
  try {
    use()
    return true
  } catch {
    return false
  }
}

export function keptTheme(): Theme {
  let kept: string | null = null
  attempt(() => (kept = localStorage.getItem(name)))
  return themeOf(kept)
}

/** False if the browser keeps nothing for this site. */
export function keepTheme(theme: Theme): boolean {
  return attempt(() => (theme === 'auto' ? localStorage.removeItem(name) : localStorage.setItem(name, theme)))
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
