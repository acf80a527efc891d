import type { Texts } from '../en/frame.ts'

export const texts: Texts = () => ({
  description: (service) => `${service}: anmelden, Mitteilungen lesen und das Konto verwalten.`,
  skipToContent: 'Zum Inhalt springen',
  navigation: 'Seiten',
  inbox: 'Posteingang',
  account: 'Konto',
  demonstration: 'Vorführung',
  documentation: 'Dokumentation',
  signIn: 'Anmelden',
  signOut: 'Abmelden',
  signedInAs: 'Angemeldet als',
  needsScript: 'Diese Seite braucht JavaScript. Erlauben Sie es in Ihrem Browser und laden Sie die Seite neu.',
  unsupportedBrowser:
    'Diese Seite ist nicht gestartet. Laden Sie sie neu. Wenn das nicht hilft, ist Ihr Browser vielleicht zu alt, oder eine Erweiterung blockiert sie.',
  failureTitle: 'Das hat nicht geklappt',
  failures: {
    FORBIDDEN:
      'Das Formular kam von einer anderen Website und wurde deshalb abgelehnt. Öffnen Sie diese Seite neu und senden Sie es von hier.',
    NOT_FOUND: 'Diese Seite gibt es nicht.',
    TOO_MANY_REQUESTS: 'Das waren zu viele Versuche. Warten Sie einen Moment und versuchen Sie es dann noch einmal.',
    UNAVAILABLE:
      'Der Dienst ist ausgelastet oder wird beendet. Es ist nichts verloren. Versuchen Sie es gleich noch einmal.',
    INVALID_REQUEST: 'Der Dienst hat das Formular nicht verstanden. Öffnen Sie diese Seite neu.',
    INTERNAL: 'Beim Dienst ist ein Fehler aufgetreten. Versuchen Sie es später noch einmal.',
    other: 'Der Dienst hat das abgelehnt. Öffnen Sie die Seite neu.',
  },
  back: 'Zurück',
})
