import type { Texts } from '../en/notices.ts'

export const texts = (): Texts => ({
  titles: {
    'password-changed': 'Ihr Passwort wurde geändert',
    'email-changed': 'Ihre E-Mail-Adresse wurde geändert',
    'username-changed': 'Ihr Benutzername wurde geändert',
    'factor-added': 'Ihrem Konto wurde eine Authenticator-App hinzugefügt',
    'passkey-added': 'Ihrem Konto wurde ein Passkey hinzugefügt',
    'factor-removed': 'Ein zweiter Faktor oder Passkey wurde aus Ihrem Konto entfernt',
    'factors-reset': 'Alle zweiten Faktoren und Passkeys wurden aus Ihrem Konto entfernt',
    'recovery-codes-created': 'Für Ihr Konto wurden neue Wiederherstellungscodes erstellt',
    'provider-linked': 'Ein Konto bei einem anderen Dienst wurde mit Ihrem verknüpft',
    'provider-unlinked': 'Die Verknüpfung mit einem Konto bei einem anderen Dienst wurde aufgehoben',
    'old-session-presented': 'Jemand hat eine alte Kopie Ihrer Anmeldung verwendet',
  },
  unknownDevice: 'einem unbekannten Gerät',
  byUser: (device, address, time) => `Dies geschah am ${time} mit ${device}, von der Adresse ${address}.`,
  byOperator: (time) => `Dies geschah am ${time} durch die Betreiber des Dienstes.`,
  byApplication: (time) => `Dies geschah am ${time} durch Ihre Anwendung.`,
  byUnknown: (time) => `Dies geschah am ${time}.`,
  advice: 'Wenn Sie das nicht erwartet haben, prüfen Sie Ihr Konto und setzen Sie ein neues Passwort.',
  ended:
    'Diese Anmeldung wurde beendet. Melden Sie sich neu an, prüfen Sie Ihr Konto und setzen Sie ein neues Passwort.',
})
