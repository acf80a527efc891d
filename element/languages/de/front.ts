import type { Texts } from '../en/front.ts'

export const texts: Texts = (plurals) => ({
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
})
