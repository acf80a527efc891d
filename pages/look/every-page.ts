// The reader's theme, and the sign-out, of which the other tabs learn. Both work without it.
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
  if (key === signedOut && newValue !== null && document.querySelector('.sign-out'))
    location.reload()
})
if (new URLSearchParams(location.search).get('after') === 'sign-out') {
  attempt(() => {
    localStorage.setItem(signedOut, '')
    localStorage.removeItem(signedOut)
  })
  history.replaceState(null, '', location.pathname)
}
