// The script of every page: the theme that the reader chose on this device. A sign-out ends the watch for the cookie. Without this script the
// system decides the theme (page.css has both), and signing out works too.
import { endWatch } from '../sign-in/cookies.ts'
import { displayTheme, keptTheme, onThemeChange } from './preferences.ts'

displayTheme(keptTheme())
onThemeChange(displayTheme)
document.addEventListener('submit', (event) => {
  if ((event.target as HTMLFormElement).matches('.sign-out')) endWatch()
})
