// The number of unread notifications in the title of the document, "(3) Orders", and on the icon of an installed application
// (https://www.w3.org/TR/badging/). If a page has several elements, the first one that was added displays its number.

/** `title`: as text, such as `99+`. Undefined: not in the title, not on the icon. */
type Badge = { title: string | undefined; app: number | undefined }

const owners = new Map<object, Badge>()
const observer = new MutationObserver(() => writeTitle(ownTitle()))
/** What is in front of the title at this time; '' for nothing. */
let prefix = ''
let isOnApp = false

export function showBadge(owner: object, badge: Badge): void {
  owners.set(owner, badge)
  update()
}

/** Restores the title if no other element displays a number. */
export function hideBadge(owner: object): void {
  if (owners.delete(owner)) update()
}

function update(): void {
  const badges = [...owners.values()]
  const title = badges.find((badge) => badge.title !== undefined)?.title
  const own = ownTitle()
  prefix = title ? `(${title}) ` : ''
  writeTitle(own)
  // Observing again is harmless. The head is observed because the page may replace the element `title`.
  if (prefix) observer.observe(document.head, { subtree: true, childList: true, characterData: true })
  else observer.disconnect()
  const app = badges.find((badge) => badge.app !== undefined)?.app
  // 0 removes it. Some browsers refuse it outside of an installed application; the number is in the title and on the bell then.
  if (app !== undefined || isOnApp) navigator.setAppBadge?.(app ?? 0).catch(() => {})
  isOnApp = app !== undefined
}

/** The title that the page set. The getter of `document.title` removes blanks at the ends. */
function ownTitle(): string {
  const { title } = document
  return prefix && `${title} `.startsWith(prefix) ? title.slice(prefix.length) : title
}

/** Writes nothing if the title is right, because the observer reports its own writes too. */
function writeTitle(title: string): void {
  const full = (prefix + title).trim()
  if (document.title !== full) document.title = full
}
