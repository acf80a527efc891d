// The script of every page: the theme that the reader chose on this device, and the sign-out, of which the other tabs learn. Without this script
// the system decides the theme (page.css has both), and signing out works too.
import { endWatch, onSignOut, tellSignOut } from '../sign-in/cookies.ts'
import { displayTheme, keptTheme, onThemeChange } from './preferences.ts'

displayTheme(keptTheme())
onThemeChange(displayTheme)
document.addEventListener('submit', (event) => {
  if ((event.target as HTMLFormElement).matches('.sign-out')) endWatch()
})
if (new URLSearchParams(location.search).get('after') === 'sign-out') tellSignOut()
// A page for signed-in users then leads to the sign-in page, and back.
else onSignOut(() => document.querySelector('.sign-out') && location.reload())
