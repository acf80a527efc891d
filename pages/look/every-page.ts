// The script of every page: the theme that the reader chose on this device, and the sign-out, of which the other tabs learn. Without this script
// the system decides the theme (page.css has both), and signing out works too.
import { endWatch, onSignOut, tellSignOut } from '../sign-in/cookies.ts'
import { displayTheme, keptTheme, onThemeChange } from './preferences.ts'

displayTheme(keptTheme())
onThemeChange(displayTheme)
document.addEventListener('submit', (event) => {
  if ((event.target as HTMLFormElement).matches('.sign-out')) endWatch()
})
// A page for signed-in users then leads to the sign-in page, and back.
onSignOut(() => document.querySelector('.sign-out') && location.reload())
if (new URLSearchParams(location.search).get('after') === 'sign-out') {
  tellSignOut()
  // Loaded again, the page does not say it again.
  history.replaceState(null, '', location.pathname)
}
