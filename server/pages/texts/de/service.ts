import type { Texts } from '../en/service.ts'

export const texts: Texts = (plurals) => ({
  frame: {
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
    failureTitle: 'Etwas ist schiefgelaufen',
    notFoundTitle: 'Seite nicht gefunden',
    failures: {
      FORBIDDEN:
        'Das Formular kam von einer anderen Website und wurde deshalb abgelehnt. Öffnen Sie diese Seite neu und senden Sie es von hier.',
      NOT_FOUND: 'Unter dieser Adresse gibt es keine Seite. Prüfen Sie, ob Sie sich vertippt haben.',
      TOO_MANY_REQUESTS: 'Das waren zu viele Versuche. Warten Sie einen Moment und versuchen Sie es dann noch einmal.',
      UNAVAILABLE:
        'Der Dienst ist ausgelastet oder wird beendet. Es ist nichts verloren. Versuchen Sie es gleich noch einmal.',
      INVALID_REQUEST: 'Das Formular war unvollständig. Öffnen Sie diese Seite neu.',
      INTERNAL: 'Beim Dienst ist ein Fehler aufgetreten. Versuchen Sie es später noch einmal.',
      other: 'Der Dienst hat das abgelehnt. Öffnen Sie die Seite neu.',
    },
    back: 'Zurück',
  },
  signIn: {
    title: 'Anmelden',
    continueTo: (host) => `und weiter zu ${host}`,
    username: 'Benutzername oder E-Mail-Adresse',
    usernameAlone: 'Benutzername',
    password: 'Passwort',
    show: 'Anzeigen',
    showPassword: 'Passwort anzeigen',
    hide: 'Verbergen',
    hidePassword: 'Passwort verbergen',
    continue: 'Weiter',
    forgot: 'Passwort vergessen?',
    or: 'oder',
    withPasskey: 'Mit einem Passkey anmelden',
    withProvider: (name) => `Mit ${name} anmelden`,
    failures: {
      INVALID_REQUEST: 'Geben Sie Benutzername und Passwort ein.',
      INVALID_CREDENTIALS:
        'Der Benutzername oder das Passwort stimmt nicht. Prüfen Sie beides und versuchen Sie es noch einmal.',
      UNAUTHORIZED:
        'Das hat länger als 5 Minuten gedauert, oder es wurde in einem anderen Fenster abgeschlossen. Geben Sie Ihr Passwort noch einmal ein.',
      FORBIDDEN:
        'Vielleicht kennt jemand anderes dieses Passwort, deshalb gilt es auf neuen Geräten nicht mehr. Legen Sie zuerst ein neues fest.',
    },
    second: {
      title: 'Zweiter Schritt',
      intro: (username) => `Ihr Passwort stimmt, ${username}. Noch ein Schritt bis zur Anmeldung.`,
      introWithoutName: 'Noch ein Schritt bis zur Anmeldung.',
      code: 'Code',
      codeHint: 'Sechs Ziffern aus Ihrer Authenticator-App.',
      withPasskey: 'Ihren Passkey verwenden',
      passkeyNeedsScript:
        'Ihr Passkey braucht JavaScript und einen Browser, der Passkeys unterstützt. Ein Wiederherstellungscode funktioniert immer.',
      recovery: 'Einen Wiederherstellungscode verwenden',
      recoveryCode: 'Wiederherstellungscode',
      recoveryHint:
        'Einer der Codes, die Sie beim Einrichten des zweiten Schritts gespeichert haben. Jeder gilt einmal.',
      wrong:
        'Dieser Code stimmt nicht oder wurde schon verwendet. Warten Sie auf den nächsten oder nehmen Sie einen anderen Wiederherstellungscode.',
      empty: 'Geben Sie einen Code ein.',
      startAgain: 'Von vorn beginnen',
    },
    signedIn: {
      title: 'Sie sind angemeldet',
      as: (name) => `Als ${name}. Wenn Sie das nicht sind, melden Sie sich ab und verwenden Sie Ihr eigenes Konto.`,
      continueTo: (host) => `Weiter zu ${host}`,
    },
    signedOut: 'Sie sind abgemeldet.',
    erased: 'Ihr Konto ist gelöscht.',
    cookiesBlocked:
      'Ihr Browser blockiert Cookies für diese Website. Ohne Cookie kann er nicht angemeldet bleiben. Erlauben Sie Cookies und laden Sie die Seite neu.',
    stillSignedOut:
      'Sie haben sich gerade angemeldet, aber Ihr Browser hat das Cookie nicht gespeichert. Erlauben Sie Cookies für diese Website und melden Sie sich noch einmal an.',
    noResponse:
      'Der Dienst antwortet nicht. Ihre Eingaben sind noch da. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.',
    passkeyNotUsed:
      'Es wurde kein Passkey verwendet. Versuchen Sie es noch einmal oder melden Sie sich auf andere Weise an.',
    passkeyUnknown: 'Dieser Passkey gehört zu keinem Konto hier. Melden Sie sich auf andere Weise an.',
    passkeyFailed:
      'Die Anmeldung mit dem Passkey ist fehlgeschlagen. Versuchen Sie es gleich noch einmal oder melden Sie sich auf andere Weise an.',
    forgotten: {
      intro: 'Wir senden einen Link an die E-Mail-Adresse Ihres Kontos. Damit wählen Sie ein neues Passwort.',
      submit: 'Link senden',
      empty: 'Geben Sie Ihren Benutzernamen oder Ihre E-Mail-Adresse ein.',
      sentTitle: 'Prüfen Sie Ihr Postfach',
      sent: 'Wenn es dieses Konto gibt und es eine E-Mail-Adresse hat, ist der Link unterwegs. Er kommt in wenigen Minuten an; sehen Sie auch im Spam-Ordner nach.',
      notSent: 'Keine E-Mail? Fragen Sie die Person, die Ihnen das Konto gegeben hat.',
      noMail:
        'Dieser Dienst sendet keine E-Mails. Bitten Sie die Person, die Ihnen das Konto gegeben hat, um einen Link, mit dem Sie ein neues Passwort wählen.',
      back: 'Zurück zur Anmeldung',
    },
    provider: {
      title: (name) => `Die Anmeldung mit ${name} ist fehlgeschlagen`,
      INVALID_REQUEST:
        'Sie wurde nicht in diesem Browser begonnen, hat länger als 10 Minuten gedauert oder ist schon abgeschlossen. Beginnen Sie von vorn.',
      FORBIDDEN: (name) =>
        `Sie wurde abgebrochen oder abgelehnt, oder Ihr Konto bei ${name} gehört hier zu keinem aktiven Benutzer. Versuchen Sie es noch einmal oder melden Sie sich auf andere Weise an.`,
      CONFLICT: (name) =>
        `Dieses Konto bei ${name} gehört hier zu einem anderen Benutzer, oder mit Ihnen ist schon ein anderes verknüpft. Es wurde nichts geändert.`,
      UNAVAILABLE: (name) =>
        `${name} ist gerade nicht erreichbar. Versuchen Sie es gleich noch einmal oder melden Sie sich auf andere Weise an.`,
    },
  },
  demonstrationPage: {
    title: 'Sitzung oder Token: beiden bei der Arbeit zusehen',
    lead: 'Sie melden sich einmal an. Woher weiß der Server beim nächsten Klick, dass Sie es noch sind? Probieren Sie beide Antworten aus.',
  },
  front: {
    welcome: (service) => `Willkommen bei ${service}`,
    welcomeText: 'Melden Sie sich an, um Ihre Mitteilungen zu lesen und Ihr Konto zu verwalten.',
    hello: (user) => `Hallo, ${user}`,
    unread: plurals({ one: 'Sie haben # ungelesene Mitteilung.', other: 'Sie haben # ungelesene Mitteilungen.' }),
    nothingUnread: 'Sie haben alles gelesen.',
    inboxText: 'Ihre Mitteilungen, sobald sie eintreffen.',
    accountText: 'Name, Sprache, Passwort, Geräte und Anmeldemethoden.',
    demonstrationText: 'Sehen Sie, was eine Sitzung von einem Token unterscheidet: nebeneinander, mit echten Anfragen.',
    documentationText: 'Alle Routen der API, mit Beispielen zum Kopieren.',
    firstStartTitle: 'Zum ersten Mal hier?',
    firstStart:
      'Melden Sie sich mit dem Benutzernamen und dem Passwort an, die der erste Start im Terminal angezeigt oder in diese Datei im Datenordner geschrieben hat:',
    noUsersTitle: 'Es gibt noch keine Benutzer',
    noUsers: 'Legen Sie auf der Kommandozeile einen an und melden Sie sich dann an:',
  },
  inbox: { category: 'Kategorie', allCategories: 'Alle Kategorien', settings: 'Einstellungen' },
  firstSteps: {
    title: 'Erste Schritte',
    send: 'Mir eine Mitteilung senden',
    sent: 'Gesendet. Sie steht oben in Ihrem Posteingang.',
    refused: 'Nicht gesendet. Möglich sind zehn in der Stunde, solange es keinen zweiten Benutzer gibt.',
    bell: 'Zwei Zeilen bringen die Glocke auf eine Ihrer Seiten:',
    user: 'Benutzer anlegen:',
    key: 'Schlüssel erzeugen, mit dem Ihre Anwendung Mitteilungen sendet:',
    notification: {
      title: 'Es funktioniert',
      body: 'Diese Mitteilung kam von selbst an: Sie mussten die Seite nicht neu laden.',
    },
  },
  docs: {
    intro: 'Alle Routen der API mit ihren Daten und Beispielen zum Kopieren; die Beschreibungen sind auf Englisch.',
    filter: 'Routen filtern',
    noMatch: 'Keine Route passt dazu.',
    copy: 'Kopieren',
    copied: 'Kopiert',
    notCopied: 'Vom Browser blockiert',
  },
  password: {
    reset: {
      title: 'Neues Passwort wählen',
      newLink: 'Einen neuen Link bekommen Sie dort, wo Sie diesen angefordert haben.',
    },
    invite: {
      title: 'Passwort wählen',
      newLink: 'Einen neuen Link bekommen Sie von der Person, die Sie eingeladen hat.',
    },
    username: 'Ihr Benutzername:',
    mailedTo: 'Dieser Link ging an:',
    submit: 'Passwort festlegen',
    progress: 'Das Passwort wird festgelegt …',
    doneTitle: 'Ihr Passwort ist festgelegt',
    done: 'Melden Sie sich damit hier oder in Ihrer Anwendung an.',
    doneElsewhere: 'Alle anderen Geräte, auf denen Sie angemeldet waren, sind abgemeldet.',
    signedIn: 'Sie sind angemeldet. Melden Sie sich beim nächsten Mal mit diesem Passwort an.',
    invalidTitle: 'Dieser Link ist nicht mehr gültig',
    invalid:
      'Er wurde schon benutzt, ist abgelaufen oder wurde durch einen neueren ersetzt. Wenn Sie damit ein Passwort festgelegt haben, melden Sie sich mit diesem an.',
    missingTitle: 'Der Link ist unvollständig',
    missing:
      'Öffnen Sie den Link aus der E-Mail noch einmal, oder kopieren Sie ihn vollständig in die Adresszeile. Er endet mit # und 43 Zeichen.',
    requestLink: 'Neuen Link anfordern',
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
    aBrowser: 'einem Browser',
    on: 'auf',
    newDevice: (device) => `Neue Anmeldung mit ${device}`,
    newDeviceText: (device, address) =>
      `Jemand hat sich mit ${device} bei Ihrem Konto angemeldet, von der Adresse ${address}. Wenn Sie das nicht waren, öffnen Sie dies und wählen Sie „Das war ich nicht“.`,
    byUser: (device, address) => `Das geschah mit ${device}, von der Adresse ${address}.`,
    byOperator: 'Das geschah durch die Betreiber des Dienstes.',
    byApplication: 'Das geschah durch Ihre Anwendung.',
    byUnknown: 'Das hat der Dienst bemerkt.',
    advice: 'Wenn Sie das nicht erwartet haben, prüfen Sie Ihr Konto und legen Sie ein neues Passwort fest.',
    ended:
      'Das Gerät wurde abgemeldet. Melden Sie sich neu an, prüfen Sie Ihr Konto und legen Sie ein neues Passwort fest.',
  },
  mails: {
    reset: ({ username, until, service }) => ({
      subject: `Ein neues Passwort bei ${service}`,
      before: [
        `Bei ${service} wurde ein neues Passwort angefordert für das Konto`,
        username,
        `Um es zu wählen, öffnen Sie diesen Link. Er gilt einmal, bis zum ${until}:`,
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
