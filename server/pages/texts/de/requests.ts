import type { Texts } from '../en/requests.ts'

export const texts: Texts = (plurals) => ({
  failures: {
    NETWORK:
      'Der Dienst antwortet nicht. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal. Ihre Eingaben sind noch da.',
    UNREADABLE: 'Die Antwort kam nicht von diesem Dienst. Versuchen Sie es später noch einmal.',
    UNAUTHORIZED: 'Sie sind abgemeldet.',
    INVALID_CREDENTIALS:
      'Das stimmt nicht. Prüfen Sie Ihre Eingabe und versuchen Sie es noch einmal.',
    SECOND_FACTOR_REQUIRED:
      'Dafür ist Ihr zweiter Anmeldeschritt nötig, und dieser Browser unterstützt ihn nicht. Nehmen Sie einen anderen Browser oder ein anderes Gerät.',
    FORBIDDEN:
      'Der Dienst hat das abgelehnt. Laden Sie die Seite neu und versuchen Sie es noch einmal.',
    FACTOR_UNREADABLE:
      'Dieser Dienst kann die Codes Ihrer Authenticator-App nicht mehr prüfen. Verwenden Sie einen Passkey oder einen Wiederherstellungscode, oder bitten Sie den Betreiber dieses Dienstes, die App aus Ihrem Konto zu entfernen.',
    NOT_FOUND: 'Das gibt es nicht mehr. Laden Sie die Seite neu.',
    CONFLICT: 'Das wurde gleichzeitig an anderer Stelle geändert. Laden Sie die Seite neu.',
    PAYLOAD_TOO_LARGE: 'Das ist zu lang.',
    TOO_MANY_REQUESTS: 'Das waren zu viele Versuche.',
    UNAVAILABLE: 'Der Dienst ist überlastet.',
    other: 'Beim Dienst ist ein Fehler aufgetreten. Versuchen Sie es später noch einmal.',
  },
  soon: 'Versuchen Sie es gleich noch einmal.',
  inSeconds: plurals({
    one: 'Versuchen Sie es in # Sekunde noch einmal.',
    other: 'Versuchen Sie es in # Sekunden noch einmal.',
  }),
  inMinutes: plurals({
    one: 'Versuchen Sie es in # Minute noch einmal.',
    other: 'Versuchen Sie es in # Minuten noch einmal.',
  }),
  tryAgain: 'Erneut versuchen',
  signInAgain: 'Neu anmelden',
  passwordFaults: {
    too_short: (minLength) => `Geben Sie mindestens ${minLength} Zeichen ein.`,
    too_long: 'Geben Sie höchstens 256 Zeichen ein.',
    too_common:
      'Wählen Sie ein anderes: Viele Menschen verwenden dieses Passwort, es ist leicht zu erraten.',
    contains_name:
      'Wählen Sie ein anderes: Dieses besteht fast nur aus Ihrem Benutzernamen oder dem Namen dieses Dienstes.',
    unusable: 'Geben Sie es ohne Zeilenumbrüche und andere unsichtbare Zeichen ein.',
  },
})
