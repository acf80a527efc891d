import type { Texts } from '../en/service.ts'

export const texts: Texts = (plurals) => ({
  front: {
    welcome: (service) => `Willkommen bei ${service}`,
    welcomeText: 'Melden Sie sich an, um Ihre Mitteilungen zu lesen und Ihr Konto zu verwalten.',
    hello: (user) => `Hallo, ${user}`,
    unread: plurals({ one: 'Sie haben # ungelesene Mitteilung.', other: 'Sie haben # ungelesene Mitteilungen.' }),
    nothingUnread: 'Sie haben alles gelesen.',
    inboxText: 'Ihre Mitteilungen, sobald sie eintreffen.',
    accountText: 'Ihr Name, Ihre Sprache, Ihr Passwort, Ihre Geräte und zweiten Faktoren.',
    demonstrationText: 'Sehen Sie, was eine Sitzung von einem Token unterscheidet: nebeneinander, mit echten Anfragen.',
    documentationText: 'Jede Route der API, mit Beispielen zum Kopieren.',
    firstStartTitle: 'Zum ersten Mal hier?',
    firstStart: (username) =>
      `Melden Sie sich als ${username} an. Das Passwort hat der erste Start im Terminal angezeigt oder in diese Datei im Datenordner geschrieben:`,
    noUsersTitle: 'Es gibt noch keine Benutzer',
    noUsers: 'Legen Sie auf der Kommandozeile einen an und melden Sie sich dann an:',
  },
  inbox: {
    title: 'Posteingang',
    category: 'Kategorie',
    allCategories: 'Alle Kategorien',
    settings: 'Einstellungen',
  },
  docs: {
    intro: 'Alle Routen der API mit ihren Daten und Beispielen zum Kopieren; die Beschreibungen sind auf Englisch.',
    filter: 'Routen filtern',
    noMatch: 'Keine Route passt dazu.',
    copy: 'Kopieren',
    copied: 'Kopiert',
    notCopied: 'Der Browser erlaubt es nicht',
  },
  password: {
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
    signedIn: 'Sie sind angemeldet. Melden Sie sich beim nächsten Mal mit diesem Passwort an.',
    invalidTitle: 'Dieser Link gilt nicht mehr',
    invalid:
      'Er wurde schon benutzt, ist zu alt oder wurde durch einen neueren ersetzt. Wenn Sie damit ein Passwort festgelegt haben, melden Sie sich mit diesem an.',
    missingTitle: 'Diese Seite braucht den ganzen Link',
    missing:
      'Öffnen Sie den Link, den Sie erhalten haben, noch einmal, oder kopieren Sie ihn vollständig in die Adresszeile. Er endet mit # und 43 Zeichen.',
  },
  notices: {
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
  },
  mails: {
    reset: ({ username, until, service }) => ({
      subject: `Ein neues Passwort bei ${service}`,
      before: [
        `Bei ${service} wurde ein neues Passwort angefordert für das Konto`,
        username,
        `Um es zu wählen, öffnen Sie diesen Link. Er gilt einmal, bis ${until}:`,
      ],
      link: 'Neues Passwort wählen',
      after: ['Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Ihr Passwort bleibt, wie es ist.'],
    }),
    changes: ({ count, title, lines, service }) => ({
      subject: `${count === 1 ? title : `${count} Änderungen an Ihrem Konto`} (${service})`,
      before: lines,
      link: 'Ihr Konto öffnen',
      after: [],
    }),
  },
})
