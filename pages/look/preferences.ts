// What a reader prefers on this device: kept in the browser, and read by the pages. It is no setting of the user's account.

export const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const names = { theme: 'carillon-theme', offline: 'carillon-offline' } as const

export function themeOf(text: string | null): Theme {
  return themes.find((theme) => theme === text) ?? 'auto'
}

export const keptTheme = (): Theme => themeOf(read('theme'))
/** Whether the inbox keeps its list for the next visit. */
export const keepsInbox = (): boolean => read('offline') === 'on'

/** False if the browser keeps nothing for this site. */
export const keepTheme = (theme: Theme): boolean => write('theme', theme === 'auto' ? null : theme)
export const keepInbox = (isKept: boolean): boolean => write('offline', isKept ? 'on' : null)

/** Deletes what the inbox has kept of this service, also if it is the preference no more. Never rejects. */
export async function forgetInbox(): Promise<void> {
  // The name under which the client keeps it is its base URL; all scripts are in one folder below that.
  const server = new URL('../', import.meta.url).href
  try {
    const { changeRecord } = await import('../../client/store/kept/record.ts')
    await changeRecord(server, () => undefined)
  } catch {
    // A browser that forbids storage has kept nothing.
  }
}

/** Calls `listen` when another tab changes the theme. */
export function onThemeChange(listen: (theme: Theme) => void): void {
  addEventListener('storage', ({ key, newValue }) => {
    // The whole storage was cleared if there is no key.
    if (key === names.theme || key === null) listen(themeOf(newValue))
  })
}

/** `auto` follows the system. */
export function displayTheme(theme: Theme): void {
  const { dataset } = document.documentElement
  if (theme === 'auto') delete dataset.theme
  else dataset.theme = theme
}

/** A browser that blocks the storage of a site throws. */
function read(name: keyof typeof names): string | null {
  try {
    return localStorage.getItem(names[name])
  } catch {
    return null
  }
}

function write(name: keyof typeof names, value: string | null): boolean {
  try {
    if (value === null) localStorage.removeItem(names[name])
    else localStorage.setItem(names[name], value)
    return true
  } catch {
    return false
  }
}
