// The script of every page: the theme that the reader chose on this device, and the sign-out, of which the other tabs learn. Without this script
// the system decides the theme (page.css has both), and signing out works too.
import { endWatch } from '../sign-in/cookies.ts'
import { attempt, displayTheme, keptTheme, onThemeChange } from './preferences.ts'

const signedOut = 'carillon-signed-out'
displayTheme(keptTheme())
onThemeChange(displayTheme)
document.addEventListener('submit', (event) => {
  if ((event.target as HTMLFormElement).matches('.sign-out')) endWatch()
})
// A page for signed-in users then leads to the sign-in page, and back.
addEventListener('storage', ({ key, newValue }) => {
  if (key === signedOut && newValue !== null && document.querySelector('.sign-out')) location.reload()
})
if (new URLSearchParams(location.search).get('after') === 'sign-out') {
  // Without a storage, each other tab learns of it with its next request.
  attempt(() => {
    localStorage.setItem(signedOut, '')
    localStorage.removeItem(signedOut)
  })
  // Loaded again, the page does not say it again.
  history.replaceState(null, '', location.pathname)
}
