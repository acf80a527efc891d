// The number of unread notifications in the title, "(3) Orders", and on the icon of an installed
// application (https://www.w3.org/TR/badging/). Of several elements, the first displays its number.

/** `title`: as text, such as `99+`. Undefined: not in the title, not on the icon. */
type Badge = { title: string | undefined; app: number | undefined }

const owners = new Map<object, Badge>()
const observer = new MutationObserver(() => writeTitle(ownTitle()))
let prefix = ''
let isOnApp = false

export function showBadge(owner: object, badge: Badge): void {
  owners.set(owner, badge)
  update()
}

export function hideBadge(owner: object): void {
  if (owners.delete(owner)) update()
}

function update(): void {
  const badges = [...owners.values()]
  const title = badges.find((badge) => badge.title !== undefined)?.title
  const own = ownTitle()
  prefix = title ? `(${title}) ` : ''
  writeTitle(own)
  // The page may replace the element `title`, so the head is observed.
  if (prefix)
    observer.observe(document.head, { subtree: true, childList: true, characterData: true })
  else observer.disconnect()
  const app = badges.find((badge) => badge.app !== undefined)?.app
  // 0 removes it. Some browsers refuse it outside of an installed application.
  if (app !== undefined || isOnApp) navigator.setAppBadge?.(app ?? 0).catch(() => {})
  isOnApp = app !== undefined
}

/** The getter of `document.title` removes blanks at the ends. */
function ownTitle(): string {
  const { title } = document
  return prefix && `${title} `.startsWith(prefix) ? title.slice(prefix.length) : title
}

/** The observer reports its own writes too. */
function writeTitle(title: string): void {
  const full = (prefix + title).trim()
  if (document.title !== full) document.title = full
}
