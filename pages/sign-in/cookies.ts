// Does this browser keep the cookie of a sign-in? It is HttpOnly, so a script sees only what follows from it.

import { attempt } from '../look/preferences.ts'

const mark = 'carillon-signed-in'
/** Longer than a sign-in and its redirects take; shorter than it takes to come back on purpose. */
const recentMs = 30_000

export function beginWatch(): void {
  attempt(() => sessionStorage.setItem(mark, String(Date.now())))
}

/** Just before a sign-out is sent: the browser has kept the cookie. */
export function endWatch(): void {
  attempt(() => sessionStorage.removeItem(mark))
}

/** `isSignedOut`: the page asks for the password, and nothing was refused. */
export function cookieFault(isSignedOut: boolean): 'cookiesBlocked' | 'stillSignedOut' | undefined {
  let began = 0
  const isAllowed = attempt(() => {
    began = Number(sessionStorage.getItem(mark) ?? 0)
    sessionStorage.removeItem(mark)
  })
  // Chromium and Firefox forbid the storage of a site with its cookies.
  if (!navigator.cookieEnabled || !isAllowed) return 'cookiesBlocked'
  return isSignedOut && Date.now() - began < recentMs && isFromSignIn()
    ? 'stillSignedOut'
    : undefined
}

/** The sign-in led somewhere that led back at once. Other pages' links are followed on purpose. */
function isFromSignIn(): boolean {
  if (document.referrer === '') return true
  const { origin, pathname } = new URL(document.referrer)
  return origin !== location.origin || pathname === location.pathname
}
