import type { Texts } from '../en/service.ts'

export const texts: Texts = (plurals) => ({
  frame: {
    description: (service) => `${service}: anmelden, Mitteilungen lesen und das Konto verwalten.`,
    skipToContent: 'Zum Inhalt springen',
    navigation: 'Seiten',
    inbox: 'Posteingang',
    account: 'Konto',
    operator: 'Verwaltung',
    demonstration: 'Vorführung',
    documentation: 'Dokumentation',
    signIn: 'Anmelden',
    signOut: 'Abmelden',
    signedInAs: 'Angemeldet als',
    needsScript:
      'Diese Seite braucht JavaScript. Aktivieren Sie es in Ihrem Browser und laden Sie die Seite neu.',
    unsupportedBrowser:
      'Die Seite wurde nicht vollständig geladen. Laden Sie sie neu. Hilft das nicht, ist Ihr Browser vielleicht zu alt, oder eine Erweiterung blockiert die Seite.',
    failureTitle: 'Etwas ist schiefgelaufen',
    notFoundTitle: 'Seite nicht gefunden',
    failures: {
      FORBIDDEN:
        'Das Formular wurde von einer anderen Website gesendet und deshalb abgelehnt. Laden Sie diese Seite neu und senden Sie es noch einmal ab.',
      NOT_FOUND:
        'Unter dieser Adresse gibt es keine Seite. Prüfen Sie, ob Sie sich vertippt haben.',
      TOO_MANY_REQUESTS:
        'Das waren zu viele Versuche. Warten Sie einen Moment und versuchen Sie es dann noch einmal.',
      UNAVAILABLE:
        'Der Dienst ist überlastet oder wird gerade beendet. Es geht nichts verloren. Versuchen Sie es gleich noch einmal.',
      INVALID_REQUEST: 'Das Formular war unvollständig. Laden Sie diese Seite neu.',
      INTERNAL: 'Beim Dienst ist ein Fehler aufgetreten. Versuchen Sie es später noch einmal.',
      other: 'Der Dienst hat das abgelehnt. Laden Sie die Seite neu.',
    },
    back: 'Zurück',
  },
  signIn: {
    title: 'Anmelden',
    continueTo: (host) => `und weiter zu ${host}`,
    username: 'Benutzername oder E-Mail-Adresse',
    usernameAlone: 'Benutzername',
    password: 'Passwort',
    showPassword: 'Passwort anzeigen',
    hidePassword: 'Passwort verbergen',
    continue: 'Weiter',
    forgot: 'Passwort vergessen?',
    or: 'oder',
    withPasskey: 'Mit einem Passkey anmelden',
    withProvider: (name) => `Mit ${name} anmelden`,
    failures: {
      INVALID_REQUEST: 'Geben Sie Benutzername und Passwort ein.',
      passwordEnded:
        'Dieses Passwort wurde für Sie erzeugt und gilt nicht mehr. Bitten Sie den Betreiber dieses Dienstes um ein neues.',
      INVALID_CREDENTIALS:
        'Benutzername oder Passwort stimmt nicht. Prüfen Sie beides und versuchen Sie es noch einmal.',
      UNAUTHORIZED:
        'Die Anmeldung hat länger als 5 Minuten gedauert oder wurde in einem anderen Fenster abgeschlossen. Geben Sie Ihr Passwort noch einmal ein.',
      FORBIDDEN:
        'Vielleicht kennt jemand anderes dieses Passwort. Deshalb funktioniert es auf neuen Geräten nicht mehr. Legen Sie zuerst ein neues fest.',
    },
    second: {
      title: 'Zweiter Schritt',
      intro: (username) => `Ihr Passwort stimmt, ${username}. Noch ein Schritt bis zur Anmeldung.`,
      introWithoutName: 'Nur noch ein Schritt.',
      code: 'Code',
      codeHint: 'Sechs Ziffern aus Ihrer Authenticator-App.',
      withPasskey: 'Passkey verwenden',
      passkeyNeedsScript:
        'Ihr Passkey braucht JavaScript und einen Browser, der Passkeys unterstützt. Ein Wiederherstellungscode funktioniert immer.',
      recovery: 'Wiederherstellungscode verwenden',
      recoveryCode: 'Wiederherstellungscode',
      recoveryHint:
        'Einer der Codes, die Sie beim Einrichten des zweiten Schritts gespeichert haben. Jeder gilt nur einmal.',
      wrong:
        'Dieser Code stimmt nicht oder wurde schon verwendet. Warten Sie auf den nächsten oder verwenden Sie einen anderen Wiederherstellungscode.',
      empty: 'Geben Sie einen Code ein.',
      startAgain: 'Von vorn beginnen',
    },
    setup: {
      title: 'Noch ein Schritt',
      any: {
        now: 'Dieser Dienst verlangt außer dem Passwort einen zweiten Schritt. Richten Sie ihn ein, um weiterzukommen. Haben Sie schon einen? Dann melden Sie sich ab und mit ihm wieder an.',
        until:
          'Ab dem # brauchen Sie außer dem Passwort einen zweiten Schritt. Richten Sie ihn jetzt ein, oder später auf Ihrer Kontoseite.',
      },
      passkey: {
        now: 'Dieser Dienst verlangt einen Passkey. Fügen Sie einen hinzu, um weiterzukommen. Haben Sie schon einen? Dann melden Sie sich ab und mit ihm wieder an.',
        until:
          'Ab dem # brauchen Sie einen Passkey. Fügen Sie ihn jetzt hinzu, oder später auf Ihrer Kontoseite.',
      },
      link: 'Vielleicht kennen andere Ihr Passwort. Deshalb brauchen Sie zuerst einen Link, den nur Sie bekommen.',
      send: 'Link per E-Mail senden',
      ask: 'Bitten Sie den Betreiber dieses Dienstes darum.',
      start: 'Jetzt einrichten',
      later: 'Später',
    },
    linkSent:
      'Der Link ist unterwegs. Er kommt in wenigen Minuten an. Sehen Sie auch im Spam-Ordner nach, und öffnen Sie den Link in diesem Browser.',
    signedIn: {
      title: 'Sie sind angemeldet',
      as: (name) =>
        `Als ${name}. Falls Sie das nicht sind, melden Sie sich ab und verwenden Sie Ihr eigenes Konto.`,
      continueTo: (host) => `Weiter zu ${host}`,
    },
    signedOut: 'Sie sind abgemeldet.',
    erased: 'Ihr Konto ist gelöscht.',
    cookiesBlocked:
      'Ihr Browser blockiert Cookies für diese Website. Ohne Cookies können Sie nicht angemeldet bleiben. Erlauben Sie Cookies und laden Sie die Seite neu.',
    stillSignedOut:
      'Sie haben sich gerade angemeldet, aber Ihr Browser hat das Cookie nicht gespeichert. Erlauben Sie Cookies für diese Website und melden Sie sich noch einmal an.',
    noResponse:
      'Der Dienst antwortet nicht. Ihre Eingaben sind noch da. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.',
    passkeyNotUsed:
      'Es wurde kein Passkey verwendet. Versuchen Sie es noch einmal oder melden Sie sich auf andere Weise an.',
    passkeyUnknown:
      'Dieser Passkey gehört zu keinem Konto bei diesem Dienst. Melden Sie sich auf andere Weise an.',
    passkeyFailed:
      'Die Anmeldung mit dem Passkey ist fehlgeschlagen. Versuchen Sie es gleich noch einmal oder melden Sie sich auf andere Weise an.',
    forgotten: {
      intro:
        'Wir senden einen Link an die E-Mail-Adresse Ihres Kontos. Damit wählen Sie ein neues Passwort.',
      submit: 'Link senden',
      empty: 'Geben Sie Ihren Benutzernamen oder Ihre E-Mail-Adresse ein.',
      sentTitle: 'Prüfen Sie Ihre E-Mails',
      sent: 'Wenn es dieses Konto gibt und es eine E-Mail-Adresse hat, ist der Link unterwegs. Er kommt in wenigen Minuten an. Sehen Sie auch im Spam-Ordner nach.',
      notSent:
        'Keine E-Mail bekommen? Wenden Sie sich an die Person, die Ihr Konto eingerichtet hat.',
      noMail:
        'Dieser Dienst verschickt keine E-Mails. Bitten Sie die Person, die Ihr Konto eingerichtet hat, um einen Link, mit dem Sie ein neues Passwort wählen.',
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
    title: 'Sitzung oder Token: Sehen Sie beiden bei der Arbeit zu',
    lead: 'Sie melden sich einmal an. Woher weiß der Server beim nächsten Klick, dass Sie es noch sind? Es gibt zwei Antworten. Probieren Sie beide aus.',
  },
  front: {
    welcome: (service) => `Willkommen bei ${service}`,
    welcomeText: 'Melden Sie sich an, um Ihre Mitteilungen zu lesen und Ihr Konto zu verwalten.',
    hello: (user) => `Hallo ${user}`,
    unread: plurals({
      one: 'Sie haben # ungelesene Mitteilung.',
      other: 'Sie haben # ungelesene Mitteilungen.',
    }),
    nothingUnread: 'Sie haben alles gelesen.',
    inboxText: 'Ihre Mitteilungen, immer aktuell.',
    accountText: 'Name, Sprache, Passwort, Geräte und Anmeldemethoden.',
    demonstrationText:
      'Sehen Sie, was eine Sitzung von einem Token unterscheidet: nebeneinander, mit echten Anfragen.',
    documentationText: 'Alle Routen der API, mit Beispielen zum Kopieren.',
    firstStartTitle: 'Zum ersten Mal hier?',
    firstStart:
      'Melden Sie sich mit dem Benutzernamen und dem Passwort an, die der erste Start im Terminal angezeigt oder in diese Datei im Datenordner geschrieben hat:',
    noUsersTitle: 'Es gibt noch keine Benutzer',
    noUsers: 'Legen Sie auf der Kommandozeile einen an und melden Sie sich dann an:',
  },
  operator: {
    needsFactor: {
      text: 'Der Dienst ist von anderen Rechnern aus erreichbar. Deshalb reicht für diese Seite ein Passwort allein nicht. Fügen Sie Ihrem Konto zuerst einen Passkey oder eine Authenticator-App hinzu.',
      link: 'Hinzufügen',
    },
  },
  inbox: {
    generatedPassword: 'Ihr Passwort wurde erzeugt und gilt nur sieben Tage lang.',
    ownPassword: 'Eigenes wählen',
    category: 'Kategorie',
    allCategories: 'Alle Kategorien',
    settings: 'Mitteilungen einstellen',
  },
  firstSteps: {
    title: 'Erste Schritte',
    signedIn: 'Angemeldet',
    test: 'Testmitteilung angekommen',
    send: 'Testmitteilung senden',
    sent: 'Gesendet.',
    refused:
      'Nicht gesendet: Sie können zehn pro Stunde senden, solange Sie der einzige Benutzer sind.',
    bell: 'Glocke auf Ihrer Seite',
    address: 'Adresse Ihrer Seite',
    lines: 'Fügen Sie diese zwei Zeilen in die Seite ein:',
    setting: 'Starten Sie Carillon mit dieser Einstellung:',
    key: 'Eigener Schlüssel, mit dem Ihre Anwendung sendet',
    notification: {
      title: 'Es funktioniert',
      body: 'Diese Mitteilung kam von selbst an: Sie mussten die Seite nicht neu laden.',
    },
  },
  docs: {
    intro:
      'Alle Routen der API mit ihren Daten und Beispielen zum Kopieren; die Beschreibungen sind auf Englisch.',
    filter: 'Routen filtern',
    noMatch: 'Keine passende Route gefunden.',
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
      'Er wurde schon verwendet, ist abgelaufen oder wurde durch einen neueren ersetzt. Wenn Sie damit ein Passwort festgelegt haben, melden Sie sich mit diesem an.',
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
      'factor-removed': 'Ein Passkey oder eine Authenticator-App wurde aus Ihrem Konto entfernt',
      'factors-reset': 'Alle Passkeys und Authenticator-Apps wurden aus Ihrem Konto entfernt',
      'recovery-codes-created': 'Für Ihr Konto wurden neue Wiederherstellungscodes erstellt',
      'provider-linked': 'Ein Konto bei einem anderen Dienst wurde mit Ihrem Konto verknüpft',
      'provider-unlinked':
        'Die Verknüpfung mit einem Konto bei einem anderen Dienst wurde aufgehoben',
      'old-session-presented': 'Jemand hat eine alte Kopie Ihrer Anmeldung verwendet',
      'user-signed-out': 'Sie wurden überall abgemeldet',
      'user-disabled': 'Ihr Konto wurde gesperrt',
      'user-enabled': 'Ihr Konto wurde entsperrt',
      'link-created': 'Ein Link zum Einrichten Ihrer Anmeldung wurde erstellt',
      'role-changed': 'Ihre Rolle wurde geändert',
      'mail-stopped': 'Keine E-Mails mehr an Ihre Adresse',
      'webhook-disabled': 'Ein Webhook wurde abgeschaltet',
      'mails-refused': 'Der Mailserver lehnt viele Adressen ab',
    },
    unknownDevice: 'einem unbekannten Gerät',
    aBrowser: 'einem Browser',
    on: 'auf',
    newDevice: (device) => `Neue Anmeldung mit ${device}`,
    newDeviceText: (device, address) =>
      `Jemand hat sich mit ${device} in Ihrem Konto angemeldet, von der Adresse ${address}. Falls Sie das nicht waren, öffnen Sie diese Mitteilung und wählen Sie „Das war ich nicht“.`,
    byUser: (device, address) => `Ausgelöst mit ${device}, von der Adresse ${address}.`,
    byOperator: 'Das war ein Betreiber des Dienstes.',
    byApplication: 'Das war Ihre Anwendung.',
    byUnknown: 'Das hat der Dienst bemerkt.',
    advice:
      'Falls Sie das nicht erwartet haben, prüfen Sie Ihr Konto und legen Sie ein neues Passwort fest.',
    ended:
      'Das Gerät wurde abgemeldet. Melden Sie sich neu an, prüfen Sie Ihr Konto und legen Sie ein neues Passwort fest.',
    webhookDisabled: (id, reason) =>
      `Der Webhook ${id} hat drei Tage lang keine Anfrage angenommen, und seine Ereignisse wurden entfernt. Der letzte Fehler war: ${reason}. Reparieren Sie den Empfänger und senden Sie ihm dann ein Testereignis.`,
    mailsRefused:
      'Er hat in einer Stunde mehr als 20 Adressen endgültig abgelehnt und lehnt vielleicht diesen Dienst ab. Die Gründe stehen in den Zeilen „send-given-up“ des Logs.',
    mailStopped:
      'Der Mailserver Ihrer Adresse hat unsere E-Mails an zwei Tagen abgelehnt, deshalb senden wir keine mehr. Bitten Sie den Betreiber des Dienstes oder Ihrer Anwendung, Ihre Adresse zu prüfen. Mitteilungen kommen hier weiterhin an.',
  },
  push: { arrived: plurals({ one: '# neue Mitteilung', other: '# neue Mitteilungen' }) },
  unsubscribe: {
    title: 'E-Mails abschalten',
    question:
      'Möchten Sie zu Mitteilungen dieser Art keine E-Mails mehr bekommen? In Ihrem Posteingang erscheinen sie weiterhin.',
    questionAll:
      'Möchten Sie zu Mitteilungen keine E-Mails mehr bekommen? In Ihrem Posteingang erscheinen sie weiterhin.',
    submit: 'Diese E-Mails abschalten',
    doneTitle: 'Diese E-Mails sind abgeschaltet',
    done: 'Zu Mitteilungen dieser Art bekommen Sie keine E-Mails mehr. In Ihrem Posteingang erscheinen sie weiterhin.',
    doneAll:
      'Zu Mitteilungen bekommen Sie keine E-Mails mehr. In Ihrem Posteingang erscheinen sie weiterhin.',
  },
  mails: {
    reset: ({ username, until, service }) => ({
      subject: `Ein neues Passwort bei ${service}`,
      before: [
        `Jemand hat bei ${service} ein neues Passwort angefordert, für das Konto`,
        username,
        `Öffnen Sie diesen Link, um das neue Passwort zu wählen. Er gilt nur einmal, bis zum ${until}:`,
      ],
      link: 'Neues Passwort wählen',
      after: [
        'Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Ihr Passwort bleibt, wie es ist.',
      ],
    }),
    factor: ({ username, until, service }) => ({
      subject: `Richten Sie den zweiten Schritt bei ${service} ein`,
      before: [
        `Jemand hat sich bei ${service} mit dem Passwort angemeldet, beim Konto`,
        username,
        `und möchte einen zweiten Schritt einrichten. Öffnen Sie diesen Link im selben Browser. Er gilt nur einmal, bis zum ${until}:`,
      ],
      link: 'Zweiten Schritt einrichten',
      after: [
        'Wenn Sie das nicht waren, öffnen Sie den Link nicht. Jemand kennt Ihr Passwort: Wählen Sie ein neues.',
      ],
    }),
    unread: {
      subject: (count, service) =>
        `${plurals({ one: '# ungelesene Mitteilung', other: '# ungelesene Mitteilungen' })(count)} (${service})`,
      others: 'Sonstige',
      more: (count) => `und ${count} weitere`,
      open: 'Posteingang öffnen',
      settings: 'Einstellen, wann Sie E-Mails bekommen',
      unsubscribe: 'Diese E-Mails abschalten',
    },
    test: ({ service }) => ({
      subject: `Es funktioniert: eine E-Mail von ${service}`,
      before: [
        `Diese E-Mail wurde gesendet, um den Mailserver von ${service} zu prüfen. Sie müssen nichts tun.`,
      ],
      link: `${service} öffnen`,
      after: [],
    }),
    changes: ({ count, title, lines, service }) => ({
      subject: `${count === 1 ? title : `${count} Änderungen an Ihrem Konto`} (${service})`,
      before: lines,
      link: 'Ihr Konto öffnen',
      after: [],
    }),
  },
})
