// What a reader prefers on this device, kept in the browser.

export const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const name = 'carillon-theme'

function themeOf(text: string | null): Theme {
  return themes.find((theme) => theme === text) ?? 'auto'
}

/** False if the browser blocks the storage of this site. */
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

export function keepTheme(theme: Theme): boolean {
  return attempt(() =>
    theme === 'auto' ? localStorage.removeItem(name) : localStorage.setItem(name, theme),
  )
}

export function onThemeChange(listen: (theme: Theme) => void): void {
  addEventListener('storage', ({ key, newValue }) => {
    if (key === name || key === null) listen(themeOf(newValue))
  })
}

export function displayTheme(theme: Theme): void {
  const { dataset } = document.documentElement
  if (theme === 'auto') delete dataset.theme
  else dataset.theme = theme
}
