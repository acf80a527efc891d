import type { Texts } from '../en/sign-in.ts'

export const texts: Texts = () => ({
  title: 'Anmelden',
  continueTo: (host) => `und weiter zu ${host}`,
  username: 'Benutzername oder E-Mail-Adresse',
  password: 'Passwort',
  show: 'Anzeigen',
  showPassword: 'Passwort anzeigen',
  hide: 'Verbergen',
  hidePassword: 'Passwort verbergen',
  submit: 'Anmelden',
  forgot: 'Passwort vergessen?',
  or: 'oder',
  withPasskey: 'Mit einem Passkey anmelden',
  withProvider: (name) => `Mit ${name} anmelden`,
  failures: {
    INVALID_REQUEST: 'Geben Sie Ihren Benutzernamen und Ihr Passwort ein.',
    INVALID_CREDENTIALS:
      'Der Benutzername oder das Passwort stimmt nicht. Prüfen Sie beides und versuchen Sie es noch einmal.',
    UNAUTHORIZED:
      'Das hat länger als 5 Minuten gedauert, oder es wurde in einem anderen Fenster abgeschlossen. Geben Sie Ihr Passwort noch einmal ein.',
    FORBIDDEN:
      'Dieses Passwort wurde als anderen bekannt gemeldet und gilt deshalb auf neuen Geräten nicht mehr. Setzen Sie zuerst ein neues.',
  },
  second: {
    title: 'Zweiter Schritt',
    intro: (username) => `Das Passwort stimmt. Zeigen Sie jetzt, dass Sie es sind, ${username}.`,
    introWithoutName: 'Zeigen Sie jetzt, dass Sie es sind.',
    code: 'Code',
    codeHint: 'Sechs Ziffern aus Ihrer Authenticator-App.',
    submit: 'Weiter',
    withPasskey: 'Ihren Passkey verwenden',
    passkeyNeedsScript:
      'Ihr Passkey braucht JavaScript und einen Browser, der Passkeys kennt. Ein Wiederherstellungscode geht immer.',
    recovery: 'Einen Wiederherstellungscode verwenden',
    recoveryCode: 'Wiederherstellungscode',
    recoveryHint: 'Einer von denen, die Sie beim Einrichten des zweiten Schritts gespeichert haben. Jeder gilt einmal.',
    wrong:
      'Dieser Code stimmt nicht oder wurde schon verwendet. Warten Sie auf den nächsten oder nehmen Sie einen anderen Wiederherstellungscode.',
    empty: 'Geben Sie einen Code ein.',
    startAgain: 'Von vorn beginnen',
  },
  signedIn: {
    title: 'Sie sind angemeldet',
    as: (name) => `Als ${name}. Wenn Sie das nicht sind, melden Sie sich ab und nehmen Sie Ihr eigenes Konto.`,
    continue: 'Weiter',
    continueTo: (host) => `Weiter zu ${host}`,
  },
  cookiesBlocked:
    'Ihr Browser blockiert Cookies für diese Website. Ohne Cookie kann er nicht angemeldet bleiben. Erlauben Sie Cookies und laden Sie die Seite neu.',
  stillSignedOut:
    'Sie haben sich gerade angemeldet, aber Ihr Browser hat das Cookie nicht behalten. Erlauben Sie Cookies für diese Website und melden Sie sich noch einmal an.',
  noResponse:
    'Es kam keine Antwort. Ihre Eingaben sind noch da. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.',
  passkeyNotUsed:
    'Es wurde kein Passkey verwendet. Versuchen Sie es noch einmal oder melden Sie sich auf anderem Weg an.',
  passkeyUnknown: 'Dieser Passkey ist hier nicht bekannt. Melden Sie sich auf anderem Weg an.',
  passkeyFailed:
    'Die Anmeldung mit dem Passkey hat nicht geklappt. Versuchen Sie es gleich noch einmal oder melden Sie sich auf anderem Weg an.',
  forgotten: {
    title: 'Passwort vergessen?',
    intro:
      'Wir senden Ihnen einen Link, mit dem Sie ein neues Passwort wählen. Er geht an die E-Mail-Adresse Ihres Kontos.',
    label: 'Benutzername oder E-Mail-Adresse',
    submit: 'Link senden',
    empty: 'Geben Sie Ihren Benutzernamen oder Ihre E-Mail-Adresse ein.',
    sentTitle: 'Sehen Sie in Ihre E-Mails',
    sent: 'Wenn es dieses Konto gibt und es eine E-Mail-Adresse hat, ist der Link unterwegs. Er kommt in wenigen Minuten an; sehen Sie auch im Spam-Ordner nach.',
    notSent: 'Keine E-Mail? Fragen Sie die Personen, von denen Sie Ihr Konto haben.',
    noMail:
      'Dieser Dienst sendet keine E-Mails. Fragen Sie die Personen, von denen Sie Ihr Konto haben oder die diesen Dienst betreiben: Sie können einen Link erzeugen, mit dem Sie ein neues Passwort wählen.',
    back: 'Zurück zur Anmeldung',
  },
  provider: {
    title: (name) => `Die Anmeldung mit ${name} hat nicht geklappt`,
    INVALID_REQUEST:
      'Sie wurde nicht in diesem Browser begonnen, hat länger als 10 Minuten gedauert oder war schon abgeschlossen. Beginnen Sie von vorn.',
    FORBIDDEN: (name) =>
      `Sie wurde abgebrochen oder abgelehnt, oder Ihr Konto bei ${name} gehört hier zu keinem aktiven Benutzer. Versuchen Sie es noch einmal oder melden Sie sich auf anderem Weg an.`,
    CONFLICT: (name) =>
      `Dieses Konto bei ${name} gehört hier zu einem anderen Benutzer, oder mit Ihnen ist schon ein anderes verknüpft. Es wurde nichts geändert.`,
    UNAVAILABLE: (name) =>
      `${name} ist gerade nicht erreichbar. Versuchen Sie es gleich noch einmal oder melden Sie sich auf anderem Weg an.`,
  },
})
