// The script of every page: the theme that the reader chose on this device, and what a sign-out deletes from it. Without this script the
// system decides the theme (page.css has both), and signing out works too.
import { endWatch } from '../sign-in/cookies.ts'
import { displayTheme, forgetInbox, keepsInbox, keptTheme, onThemeChange } from './preferences.ts'

displayTheme(keptTheme())
onThemeChange(displayTheme)
document.addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement
  if (!form.matches('.sign-out')) return
  endWatch()
  if (!keepsInbox()) return
  event.preventDefault()
  // Unlike requestSubmit(), this sends no second event.
  void forgetInbox().finally(() => form.submit())
})
