import type { Texts } from '../en/account.ts'

export const texts: Texts = (plurals) => ({
  sections: 'Teile dieser Seite',
  passwordDemanded: 'Jemand anderes hat sich bei Ihrem Konto angemeldet und kennt vielleicht Ihr Passwort.',
  passwordLink: 'Neues Passwort wählen',
  profile: {
    title: 'Name und Sprache',
    username: 'Benutzername',
    email: 'E-Mail-Adresse',
    verified: 'bestätigt',
    notVerified: 'nicht bestätigt',
    name: 'Anzeigename',
    nameHint: 'Andere sehen diesen Namen. Ohne ihn sehen sie Ihren Benutzernamen.',
    save: 'Speichern',
    nameSaved: 'Ihr Name ist gespeichert.',
    nameRefused: 'Schreiben Sie höchstens 200 Zeichen, ohne Zeilenumbrüche und andere Steuerzeichen.',
    language: 'Sprache',
    languageHint: 'Sie gilt für diese Seiten auf allen Ihren Geräten.',
    asTheBrowser: 'Wie im Browser eingestellt',
    languageSaved: 'Die Sprache ist gespeichert.',
  },
  password: {
    title: 'Passwort',
    none: 'Sie haben hier kein Passwort: Sie melden sich mit einem Konto bei einem anderen Anbieter an.',
    current: 'Aktuelles Passwort',
    next: 'Neues Passwort',
    rules: plurals({
      one: 'Mindestens # Zeichen. Mehrere Wörter sind leicht zu merken.',
      other: 'Mindestens # Zeichen. Mehrere Wörter sind leicht zu merken.',
    }),
    show: 'Passwörter anzeigen',
    change: 'Passwort ändern',
    effect: 'Sie bleiben hier angemeldet und werden überall sonst abgemeldet.',
    wrong: 'Das ist nicht Ihr aktuelles Passwort.',
    missing: 'Schreiben Sie zuerst Ihr aktuelles Passwort.',
    changed: 'Ihr Passwort ist geändert. Alle anderen Geräte sind abgemeldet.',
  },
  preferences: {
    title: 'Vorlieben',
    hint: 'Sie gelten für diesen Browser auf diesem Gerät.',
    theme: 'Darstellung',
    themes: { auto: 'Wie auf diesem Gerät', light: 'Hell', dark: 'Dunkel' },
    notKept:
      'Ihr Browser speichert nichts für diese Website, deshalb gilt das nur, bis Sie die Seite verlassen. Erlauben Sie Cookies und Websitedaten, um das zu ändern.',
  },
  confirm: {
    title: 'Bestätigen Sie, dass Sie es sind',
    text: 'Ihre Anmeldung ist älter als zehn Minuten, und diese Änderung betrifft, wie Sie sich anmelden.',
    submit: 'Bestätigen',
    cancel: 'Abbrechen',
    labels: { password: 'Passwort', code: 'Code aus Ihrer Authenticator-App', recoveryCode: 'Wiederherstellungscode' },
    ways: {
      password: 'Passwort verwenden',
      passkey: 'Passkey verwenden',
      code: 'Authenticator-App verwenden',
      recoveryCode: 'Wiederherstellungscode verwenden',
    },
    faults: {
      password: 'Das ist nicht Ihr Passwort.',
      passkey: 'Der Passkey wurde nicht verwendet: abgebrochen, zu spät oder keiner von Ihren.',
      code: 'Dieser Code ist falsch oder wurde schon verwendet. Warten Sie auf den nächsten.',
      recoveryCode: 'Dieser Wiederherstellungscode ist falsch oder wurde schon verwendet.',
    },
    otherwise:
      'Wenn nichts davon möglich ist, melden Sie sich ab und neu an und machen Sie die Änderung in den ersten zehn Minuten.',
  },
})
