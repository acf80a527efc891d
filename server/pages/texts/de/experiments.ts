import type { Texts } from '../en/experiments.ts'

type Words = ReturnType<Texts>

const experiments: Words['experiments'] = {
  replay: {
    title: 'Wiederverwenden nach der Abmeldung',
    question: 'Ein Dieb hat den Nachweis kopiert. Sie melden sich ab. Dann legt der Dieb die Kopie vor.',
    yes: 'Die Kopie wird angenommen',
    no: 'Die Kopie wird abgelehnt',
    why: 'Das Cookie benennt nur eine Zeile der Datenbank, und die Abmeldung hat diese Zeile entfernt: Die Kopie benennt nichts mehr. Ein Token braucht keine Zeile. Seine Signatur ist weiterhin gültig, und ein Dienst, der nur die Signatur prüft, nimmt die Kopie an, bis sie abläuft. Carillon lehnt sie ab, weil die Abmeldung auch eine kleine Zeile speichert, einen Widerruf. Jeder Prozess behält ihn im Speicher, solange das Token leben könnte.',
    follows: 'Soll eine Abmeldung sofort wirken, nehmen Sie eine Sitzung. Ein Token braucht eine Liste von Widerrufen.',
  },
  revokeAll: {
    title: 'Alle Anmeldungen widerrufen',
    question: 'Ein Telefon ist verloren. Der Betreiber widerruft alle Anmeldungen des Benutzers.',
    yes: 'Der Nachweis gilt noch',
    no: 'Der Nachweis wird abgelehnt',
    why: 'Die Sitzungen eines Benutzers sind Zeilen, also kann der Server sie auflisten und entfernen. Eine Liste der Token, die unterwegs sind, hat niemand. Carillon speichert einen Widerruf für alle: die Anmeldungen dieses Benutzers bis jetzt. Das wirkt überall, wo der Widerruf bekannt ist. Ein Dienst, der nur den öffentlichen Schlüssel hat, nimmt das Token noch an, höchstens 15 Minuten lang.',
    follows:
      'Sitzungen lassen sich an einer Stelle beenden. Token enden dort, wo der Widerruf ankommt, und sonst durch ihr kurzes Leben.',
  },
  changeCharacter: {
    title: 'Ein Zeichen ändern',
    question: 'Jemand ändert ein Zeichen des Nachweises, vielleicht um ein anderer Benutzer zu werden.',
    yes: 'Der geänderte Nachweis gilt',
    no: 'Der geänderte Nachweis wird abgelehnt',
    why: 'Der Server speichert einen Hash des Cookies. Ein anderes Zeichen ergibt einen anderen Hash, und den hat keine Zeile: Das zeigt erst das Nachschlagen. Die Signatur eines Tokens gilt für jedes seiner Zeichen. Der öffentliche Schlüssel zeigt ohne Nachschlagen, dass Text und Signatur nicht zusammengehören. Erraten lässt sich beides nicht: Das Cookie hat 256 zufällige Bits, und eine Signatur braucht den privaten Schlüssel.',
    follows: 'Beide sind fälschungssicher: das eine durch Nachschlagen, das andere durch Rechnen.',
  },
  restart: {
    title: 'Den Server neu starten',
    question: 'Der Server hält an, vergisst alles, was er im Speicher hatte, und startet wieder.',
    yes: 'Der Nachweis gilt noch',
    no: 'Der Nachweis wird abgelehnt',
    why: 'Die Sitzung ist eine Zeile der Datenbank und keine Variable des Prozesses. Das Token liegt beim Client, und der Schlüssel, der es signiert hat, liegt verschlüsselt in der Datenbank. Ein Dienst, der seine Sitzungen im Speicher hält oder bei jedem Start einen neuen Schlüssel macht, würde hier alle abmelden.',
    follows: 'Beide überstehen es, solange Sitzungen und Schlüssel gespeichert sind.',
  },
  expiry: {
    title: 'Ablaufen lassen',
    question: 'Die Uhr Ihres Dienstes wird um 16 Minuten vorgestellt. In dieser Zeit wurde der Nachweis nicht benutzt.',
    yes: 'Der Nachweis gilt noch',
    no: 'Der Nachweis ist abgelaufen',
    why: 'Das Ende eines Tokens steht darin und ist mitsigniert: 15 Minuten nach der Ausstellung. Niemand kann es verschieben, deshalb erneuert ein Client das Token vorher. Das Ende einer Sitzung steht in der Datenbank und wandert mit jeder Benutzung: 7 Tage nach der letzten, spätestens 30 Tage nach der Anmeldung. Die letzte Zeile stammt von weiteren 8 Tagen später.',
    follows:
      'Für lange Anmeldungen nehmen Sie eine Sitzung. Ein Token ist mit Absicht kurz, und der Client erneuert es.',
  },
  script: {
    title: 'Ein Skript will den Nachweis lesen',
    question: 'In dieser Seite läuft ein fremdes Skript, etwa aus einer gekaperten Bibliothek. Es sucht den Nachweis.',
    yes: 'Das Skript liest ihn',
    no: 'Das Skript kann ihn nicht lesen',
    why: 'Das Cookie ist HttpOnly: Der Browser sendet es und zeigt es keinem Skript, auch dieser Seite nicht. Das Token muss im Speicher der Seite liegen, die es an jede Anfrage hängt. Ein Skript, das sich an die Stelle von fetch setzt, sieht es deshalb. Wie die letzte Zeile zeigt, kann das Skript mit beiden Anfragen senden, solange die Seite offen ist. Mitnehmen und anderswo benutzen kann es nur das Token, bis es abläuft.',
    follows:
      'Im Browser ist eine Sitzung mit HttpOnly-Cookie besser. Fremde Skripte fernzuhalten bleibt trotzdem nötig.',
  },
  otherSite: {
    title: 'Eine andere Website sendet ein Formular',
    question:
      'Sie öffnen die Seite einer anderen Website. Die sendet sofort ein Formular an Ihren Dienst: alles als gelesen markieren.',
    yes: 'Das Formular handelt in Ihrem Namen',
    no: 'Das Formular bewirkt nichts',
    why: 'Browser hängen Cookies von sich aus an Anfragen. So konnte ein Formular einer anderen Website früher in Ihrem Namen handeln. SameSite=Lax hält das Cookie aus einem solchen Formular heraus, und Carillon lehnt es ohnehin ab, wenn der Browser meldet, dass es von einer anderen Website kommt. Ein Token hängt der Browser nie von sich aus an, und die andere Website hat es nicht.',
    follows:
      'Ein Cookie braucht SameSite und eine Prüfung der Herkunft. Ein Token in einem Header-Feld braucht beides nicht.',
  },
  offline: {
    title: 'Das Token offline mit dem öffentlichen Schlüssel lesen',
    question:
      'Ein anderer Dienst kennt den öffentlichen Schlüssel und hat keinen Zugang zur Datenbank. Kann er sicher sein, wem der Nachweis gehört?',
    yes: 'Ja, ohne eine Anfrage',
    no: 'Nein',
    why: 'Die Angaben in einem Token sind signiert und nicht verschlüsselt: Wer das Token hat, kann sie lesen, und der öffentliche Schlüssel beweist, dass sie von Carillon sind. So kann jeder Dienst selbst prüfen, aber nicht wissen, ob das Token widerrufen ist. Das Cookie enthält die Kennung des Benutzers und eine Zufallszahl, aber keine Signatur: Jeder könnte eine andere Kennung hineinschreiben. Nur die Datenbank weiß, ob beide zusammengehören.',
    follows:
      'Prüfen mehrere Dienste ohne gemeinsame Datenbank, nehmen Sie ein Token. Geheimnisse gehören nicht hinein.',
  },
  outage: {
    title: 'Die Datenbank ist zehn Sekunden lang weg',
    question:
      'Die Datenbank antwortet nicht mehr. In dieser Zeit wird die geschützte Route aufgerufen, die keine Daten braucht.',
    yes: 'Der Nachweis wird angenommen',
    no: 'Die Anfrage scheitert',
    why: 'Ohne Datenbank kann niemand eine Sitzung nachschlagen. Der Dienst antwortet mit 503 und nicht mit 401, denn der Nachweis kann durchaus gültig sein. Das Token wird im Speicher geprüft, also geht eine Route ohne Daten. Die Liste der Mitteilungen steht in der Datenbank und scheitert in beiden Bahnen. Danach geht beides wieder, und niemand musste sich neu anmelden.',
    follows: 'Soll eine Prüfung nicht von der Datenbank abhängen oder sie nicht belasten, nehmen Sie ein Token.',
  },
}

const facts: Words['facts'] = {
  before: 'Vorher',
  signOut: 'Abmeldung',
  withCopy: 'Mit der Kopie',
  withChange: 'Mit dem geänderten Zeichen',
  changedName: 'Das geänderte Token nennt als Benutzer',
  after: 'Danach',
  minutesLater: '16 Minuten später',
  daysLater: 'Weitere 8 Tage später',
  signatureValid: 'Nach dem öffentlichen Schlüssel allein ist die Signatur gültig',
  signatureInvalid: 'Nach dem öffentlichen Schlüssel allein ist die Signatur ungültig',
  cookieHidden: 'document.cookie enthält das Cookie nicht',
  cookieReadable: 'document.cookie enthält das Cookie',
  tokenHidden: 'Das Skript fand kein Token',
  tokenRead: 'Das Skript hat das Token in einer Anfrage gelesen',
  usedByScript: 'Das Skript sendet selbst eine Anfrage',
  formSent: 'Das Formular der anderen Website',
  formHasCookie: 'Der Browser hat das Cookie mitgesendet',
  formLacksCookie: 'Der Browser hat kein Cookie mitgesendet',
  formHasToken: 'Der Browser hat das Token mitgesendet',
  formLacksToken: 'Der Browser hat kein Token mitgesendet',
  unread: 'Ungelesen vorher und nachher',
  cookieContent: 'Im Cookie stehen eine Kennung und eine Zufallszahl',
  cookieHasClaims: 'Es hat Angaben mit einer Signatur',
  cookieLacksClaims: 'Es hat keine Signatur, die ein Schlüssel prüfen könnte',
  claims: 'Im Token gelesen',
  requests: 'Dafür nötige Anfragen',
  noWebCrypto:
    'Die Signatur wurde nicht geprüft: Auf einer Seite, die über einfaches HTTP kam, haben Browser kein Web Crypto. Öffnen Sie diese Seite über https:// oder auf localhost.',
  noEd25519:
    'Die Signatur wurde nicht geprüft: Web Crypto kennt in diesem Browser kein Ed25519. Versuchen Sie es mit einer aktuellen Version von Firefox, Safari oder Chrome.',
  during: 'Während die Datenbank weg ist',
  duringList: 'Die Liste, die in der Datenbank steht',
}

export const texts: Texts = (plurals) => ({
  title: 'Experimente',
  intro:
    'Erst vorhersagen, dann ausprobieren. Jedes Experiment meldet sich in beiden Bahnen neu an, sendet echte Anfragen an Ihren eigenen kleinen Dienst und ändert sonst nichts.',
  predict: (lane) => `${lane}: Was sagen Sie vorher?`,
  run: 'Experiment starten',
  runAgain: 'Noch einmal',
  choose: 'Wählen Sie zuerst für jede Bahn eine Vorhersage.',
  link: (title) => `Link zum Experiment „${title}“`,
  experiments,
  progress: {
    signingIn: 'Anmeldung in beiden Bahnen …',
    copying: 'Der Dieb kopiert beide Nachweise …',
    signingOut: 'Abmeldung …',
    presenting: 'Beide Nachweise werden vorgelegt …',
    revoking: 'Der Betreiber widerruft alle Anmeldungen …',
    changing: 'Ein Zeichen wird geändert …',
    restarting: 'Der Server startet neu …',
    advancing: 'Die Uhr wird vorgestellt …',
    spying: 'Das Skript sucht den Nachweis …',
    waitingForForm: 'Die andere Website sendet ihr Formular …',
    checkingSignature: 'Die Signatur wird in diesem Browser geprüft …',
    outage: plurals({
      one: 'Die Datenbank ist noch # Sekunde weg.',
      other: 'Die Datenbank ist noch # Sekunden weg.',
    }),
  },
  frameTitle: 'Seite einer anderen Website',
  facts,
  asPredicted: 'wie vorhergesagt',
  notAsPredicted: 'anders als vorhergesagt',
  result: 'Ergebnis',
  right: 'Das haben Sie vorhergesagt.',
  wrong: (predicted) => `Ihre Vorhersage war: ${predicted}.`,
  notMeasured: 'In diesem Browser nicht gemessen',
  whyTitle: 'Warum',
  wire: 'Wie es auf der Leitung war',
  trace: 'Was der Server getan hat',
  table: {
    title: 'Wann nimmt man was?',
    intro: 'Die Tabelle füllt sich mit Ihren Experimenten.',
    caption: 'Was Sie gemessen haben und was daraus folgt',
    experiment: 'Experiment',
    follows: 'Was daraus folgt',
    notRun: 'Noch offen',
    run: (count) => `${count} von 9 Experimenten gemacht.`,
    session: 'Nehmen Sie eine Sitzung',
    sessionText:
      'für Menschen im Browser: Skripte kommen nicht an den Nachweis, eine Abmeldung wirkt sofort, und eine Anmeldung kann Wochen halten. Jede Anfrage kostet ein Nachschlagen.',
    token: 'Nehmen Sie ein Token',
    tokenText:
      'für Programme, Apps und Dienste ohne gemeinsame Datenbank: Wer den öffentlichen Schlüssel hat, kann es prüfen. Lassen Sie es kurz leben, denn vorzeitig beenden lässt es sich schwer.',
    forget: 'Meine Ergebnisse vergessen',
  },
  again: 'Ihre Vorhersagen bleiben erhalten. Starten Sie das Experiment noch einmal.',
  tabs: {
    other:
      'Die Vorführung ist auch in einem anderen Tab offen. Beide Tabs teilen sich ein Cookie und einen kleinen Dienst. Arbeiten Sie deshalb nur in einem: Sonst messen Sie, was der andere Tab getan hat.',
    running: 'In einem anderen Tab läuft ein Experiment. Warten Sie, bis es zu Ende ist, und starten Sie dann dieses.',
  },
})
