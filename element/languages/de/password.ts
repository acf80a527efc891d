import type { Texts } from '../en/password.ts'

export const texts: Texts = () => ({
  reset: {
    title: 'Neues Passwort wählen',
    label: 'Neues Passwort',
    newLink: 'Einen neuen Link bekommen Sie dort, wo Sie diesen angefordert haben.',
  },
  invite: {
    title: 'Passwort wählen',
    label: 'Passwort',
    newLink: 'Einen neuen Link bekommen Sie von den Leuten, die Sie eingeladen haben.',
  },
  username: 'Ihr Benutzername:',
  show: 'Passwort anzeigen',
  hide: 'Passwort verbergen',
  submit: 'Passwort festlegen',
  progress: 'Das Passwort wird festgelegt …',
  doneTitle: 'Ihr Passwort ist festgelegt',
  done: 'Melden Sie sich damit hier oder in Ihrer Anwendung an.',
  doneElsewhere: 'Alle anderen Geräte, auf denen Sie angemeldet waren, sind abgemeldet.',
  welcome: (service) => `Willkommen bei ${service}`,
  signedIn: 'Sie sind angemeldet. Melden Sie sich beim nächsten Mal mit diesem Passwort an.',
  invalidTitle: 'Dieser Link gilt nicht mehr',
  invalid:
    'Er wurde schon benutzt, ist zu alt oder wurde durch einen neueren ersetzt. Wenn Sie damit ein Passwort festgelegt haben, melden Sie sich mit diesem an.',
  missingTitle: 'Diese Seite braucht den ganzen Link',
  missing:
    'Öffnen Sie den Link, den Sie erhalten haben, noch einmal, oder kopieren Sie ihn vollständig in die Adresszeile. Er endet mit # und 43 Zeichen.',
})
