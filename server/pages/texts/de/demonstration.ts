import type { Texts } from '../en/demonstration.ts'
import type { Plurals } from '../plurals.ts'

const experiments: Texts['experiments']['experiments'] = {
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

const facts: Texts['experiments']['facts'] = {
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
  cookiesOfScript: 'document.cookie, wie es das Skript liest',
  fieldOfScript: 'Das Feld Authorization, wie es das Skript liest',
  usedByScript: 'Das Skript sendet selbst eine Anfrage',
  formSent: 'Das Formular der anderen Website',
  formCookie: 'Das Cookie, das der Browser mitschickte',
  formToken: 'Das Token, das der Browser mitschickte',
  unread: 'Ungelesen vorher und nachher',
  cookieContent: 'Im Cookie stehen eine Kennung und eine Zufallszahl',
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

const ofExperiments = (plurals: Plurals): Texts['experiments'] => ({
  title: 'Experimente',
  intro:
    'Erst vorhersagen, dann ausprobieren. Jedes Experiment meldet sich in beiden Bahnen neu an, sendet echte Anfragen an Ihren eigenen kleinen Dienst und ändert sonst nichts.',
  predict: (lane) => `${lane}: Was sagen Sie vorher?`,
  run: 'Experiment starten',
  runAgain: 'Noch einmal',
  choose: 'Wählen Sie zuerst für jede Bahn eine Vorhersage.',
  link: (title) => `Link zum Experiment „${title}“`,
  experiments,
  running: 'Die Anfragen werden in beiden Bahnen gesendet …',
  outage: plurals({
    one: 'Die Datenbank ist noch # Sekunde weg.',
    other: 'Die Datenbank ist noch # Sekunden weg.',
  }),
  frameTitle: 'Seite einer anderen Website',
  facts,
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

export const texts = (plurals: Plurals): Texts => ({
  title: 'Sitzung oder Token: beiden bei der Arbeit zusehen',
  lead: 'Sie melden sich einmal an. Woher weiß der Server beim nächsten Klick, dass noch immer Sie es sind? Es gibt zwei Antworten, die Sitzung und das Token. Diese Seite sendet dieselben Anfragen auf beide Arten, und zwar wirklich, und zeigt, was der Browser behält, was unterwegs ist und was der Server behält.',
  walk: 'Der Rundgang',
  experiments: ofExperiments(plurals),
  laneNames: { session: 'Sitzung', token: 'Token' },
  ideas: {
    session: {
      title: 'Der Server merkt sich, wer Sie sind',
      text: 'Bei der Anmeldung speichert der Server eine Zeile über Sie und gibt dem Browser deren Nummer, in einem Cookie. Bei jeder Anfrage schlägt er die Zeile nach.',
      like: 'Wie an der Garderobe: Sie haben die Nummer, der Mantel hängt dort.',
    },
    token: {
      title: 'Sie tragen eine unterschriebene Aussage bei sich',
      text: 'Bei der Anmeldung schreibt der Server auf, wer Sie sind, unterschreibt das und speichert nichts. Bei jeder Anfrage prüft er seine eigene Unterschrift.',
      like: 'Wie ein Reisepass: Wer das Siegel kennt, kann ihn prüfen und muss niemanden fragen.',
    },
  },
  ownWorld:
    'Für Sie allein legt der Dienst eine kleine Kopie von sich an: mit eigener Datenbank, eigenen Schlüsseln, eigener Uhr und eigenen Cookies. Was darin geschieht, betrifft sonst niemanden. Nach einer Stunde wird sie gelöscht.',
  begin: 'Los: ohne Nachweis anfragen',
  next: 'Weiter: ',
  toExperiments: 'Weiter zu den Versuchen',
  stepOf: (number) => `Schritt ${number} von 6`,
  sending: 'Gesendet werden die Anfragen von Schritt ',
  steps: {
    'without-proof': {
      short: 'Ohne Nachweis',
      title: 'Ohne Nachweis anfragen',
      intro: 'Der Browser ruft eine Seite ab, die nur Angemeldete sehen dürfen. Nichts in der Anfrage sagt, wer fragt.',
      finding: 'Beide bekommen 401. Solange es keinen Nachweis gibt, sind die beiden Varianten gleich.',
    },
    'sign-in': {
      short: 'Anmelden',
      title: 'Anmelden',
      intro:
        'Beide Bahnen senden denselben Benutzernamen und dasselbe Passwort. Der Unterschied ist, was der Server tut, sobald er sie für richtig befunden hat.',
      finding:
        'In jeder Bahn behält der Browser jetzt einen Nachweis. Für die Sitzung hat der Server eine Zeile gespeichert, die dazugehört. Für das Token hat er nichts gespeichert. (Dass beide Bahnen den Versuch zählen und das Gerät vermerken, betrifft den Benutzer, nicht den Nachweis.)',
    },
    'with-proof': {
      short: 'Mit Nachweis',
      title: 'Noch einmal, mit Nachweis',
      intro:
        'Die Anfrage aus Schritt 1 noch einmal. Das Cookie fügt der Browser selbst hinzu, das Token das Skript dieser Seite.',
      finding:
        'Beide bekommen 200. Für das Cookie musste der Server die Zeile in der Datenbank nachschlagen. Für das Token hat er keine Datenbank gefragt: Er hat ein Token erkannt, das er selbst unterschrieben hat. Jeder andere Server rechnet stattdessen die Unterschrift nach.',
    },
    list: {
      short: 'Liste',
      title: 'Die Benachrichtigungen auflisten',
      intro:
        'Nun etwas Nützliches: der Posteingang des Benutzers. Beide Bahnen sind derselbe Benutzer, also gibt es einen Posteingang.',
      finding:
        'Die beiden Listen sind gleich. Die Variante bestimmt, wie der Server erfährt, wer fragt, und nicht, was dieser Benutzer bekommt. Die Liste selbst steht in der Datenbank: Mit der Sitzung wird sie in einem Zug gelesen, mit dem Token allein.',
    },
    'mark-one': {
      short: 'Eine gelesen',
      title: 'Eine als gelesen markieren',
      intro: 'Jede Bahn markiert eine andere Benachrichtigung desselben Posteingangs.',
      finding:
        '204: erledigt, und es gibt nichts hinzuzufügen. Beide Bahnen haben den Posteingang geändert. Ein Token heißt, dass keine Anmeldung gespeichert wird; die Daten des Benutzers werden trotzdem gespeichert.',
    },
    'mark-all': {
      short: 'Alle gelesen',
      title: 'Alle als gelesen markieren',
      intro: 'Eine Anfrage für den ganzen Posteingang, wie viele Benachrichtigungen er auch hat.',
      finding:
        'Wieder 204 in beiden Bahnen. Die Sitzung kam zuerst und hat markiert, was übrig war; für das Token blieb nichts zu markieren, und das ist kein Fehler.',
    },
  },
  columns: { browser: 'Das behält der Browser', wire: 'Das ist unterwegs', server: 'Das behält der Server' },
  nothingInBrowser: 'Nichts, das sagt, wer Sie sind.',
  cookieInBrowser: 'Ein Cookie',
  cookieNote:
    'Der Browser sendet es von selbst. Kein Skript kann es lesen, auch das dieser Seite nicht: Sie sehen es hier aus der Aufzeichnung des Servers.',
  tokenInBrowser: 'Ein Token, im Speicher dieser Seite',
  tokenNote:
    'Das Skript der Seite behält es und fügt es jeder Anfrage hinzu. Jedes Skript in dieser Seite könnte es lesen.',
  validUntil: 'Gültig bis ',
  requestBy: 'Anfrage',
  responseTo: 'Antwort',
  allFields: plurals({ one: '# weiteres Feld zeigen', other: 'Alles zeigen, # weitere Felder' }),
  fewerFields: 'Nur das Wichtige zeigen',
  nothingStored: 'Nichts wurde gespeichert',
  nothingStoredYet: 'Nichts über diesen Browser.',
  nothingForToken:
    'Zu diesem Token gehört keine Zeile. Der Server behält ein Schlüsselpaar, mit dem er die Tokens aller Benutzer unterschreibt.',
  kinds: { new: 'neu', changed: 'geändert', gone: 'gelöscht' },
  tables: {
    session: 'Die Sitzung dieser Anmeldung',
    token_cutoff: 'Ein Widerruf',
    known_device: 'Ein Gerät, auf dem der Benutzer sich angemeldet hat: kein Nachweis, und in beiden Bahnen gleich',
    inbox: 'Der Posteingang des Benutzers',
    notification: 'Eine Benachrichtigung',
  },
  rowFields: {
    secret_hash: 'ein Hash des Geheimnisses im Cookie: Wer die Datenbank stiehlt, kann daraus kein Cookie machen',
    created_at: 'die Anmeldung; 30 Tage später endet die Sitzung',
    last_seen_at: 'die letzte Verwendung; eine Sitzung, die niemand verwendet, endet früher',
    confirmed_at: 'wann der Benutzer das Passwort zuletzt erneut eingegeben hat',
    has_tokens: 'ob aus dieser Sitzung ein Token entstanden ist',
  },
  diagramTitle: 'Was geschah, der Reihe nach',
  actors: { browser: 'Browser', server: 'Server', store: 'Datenbank' },
  notAsked: 'nicht gefragt',
  noTrace: 'Der Ablauf im Server wird hier nicht gezeigt (CARILLON_DEMONSTRATION_TRACE).',
  proofs: { none: 'ohne Nachweis', cookie: 'mit dem Cookie', token: 'mit dem Token', password: 'mit dem Passwort' },
  arrows: {
    request: (line, proof) => `Browser an Server: ${line}, ${proof}.`,
    response: (status) => `Server an Browser: ${status}.`,
    store: (what, ms) => `Server an Datenbank: ${what}, ${ms}.`,
    server: (what, ms) => `Im Server: ${what}, ${ms}.`,
  },
  calls: {
    'store.findCredentials': 'Passwort-Hash lesen',
    'passwords.verify': 'Passwort prüfen',
    'store.addSession': 'Sitzung speichern',
    'store.findSession': 'Sitzung nachschlagen',
    'accessTokens.issue': 'Token unterschreiben',
    'accessTokens.verify found, signature': 'Unterschrift prüfen',
    'accessTokens.verify found, remembered': 'das eigene Token erkennen',
    'accessTokens.verify none, signature': 'Unterschrift prüfen: abgelehnt',
    'accessTokens.verify none, remembered': 'Token erkannt: abgelehnt',
    'store.guessRefusals': 'zu viele Fehlversuche?',
    'store.reserveGuess': 'den Versuch zählen',
    'store.clearGuesses': 'frühere Versuche vergessen',
    'store.factorsOf': 'zweiter Faktor nötig?',
    'store.noteDevice': 'das Gerät vermerken',
    'store.readPage': 'die Liste lesen',
    'store.markRead': 'eine als gelesen markieren',
    'store.markAllRead': 'alle als gelesen markieren',
    'revocations.isRevoked': 'widerrufen? im Speicher geprüft',
  },
  setsCookie: 'setzt das Cookie',
  givesToken: 'bringt das Token',
  cookieApart: 'Das Cookie, zerlegt',
  tokenApart: 'Das Token, zerlegt',
  cookieFields: {
    name: 'Unter diesem Namen behält es der Browser. Die Vorführung hat einen eigenen Namen, damit Ihre echte Anmeldung bleibt, wie sie ist.',
    user: 'Die Kennung des Benutzers. Sie ist kein Geheimnis; mit ihr ist die Zeile in einem Schritt gefunden.',
    secret:
      '32 zufällige Bytes. Nur wer sie hat, kann diese Sitzung sein. Sie sagen nichts aus und sind nicht zu erraten.',
    Path: 'Der Browser sendet das Cookie nur an Adressen unter diesem Pfad.',
    'Max-Age':
      'So viele Sekunden behält es der Browser: 30 Tage. Der Server beendet die Sitzung nach seiner eigenen Uhr.',
    HttpOnly:
      'Kein Skript kann es lesen. Ein fremdes Skript in der Seite könnte damit Anfragen senden, es aber nicht mitnehmen.',
    SameSite: 'Lax: Ein Formular oder Bild einer anderen Website bringt es nicht mit, ein gewöhnlicher Link schon.',
    Secure: 'Der Browser sendet es nur über HTTPS.',
  },
  tokenPieces: ['Kopf', 'Angaben', 'Unterschrift'],
  tokenPieceNotes: [
    'wie es unterschrieben ist',
    'um wen es geht und wie lange es gilt; für alle lesbar, geheim ist daran nichts',
    'der einzige Teil, den sonst niemand herstellen kann',
  ],
  tokenFields: {
    alg: 'Die Art der Unterschrift: Ed25519. Der Server nimmt keine andere an, was auch immer ein Token behauptet.',
    typ: 'Das ist ein Zugriffstoken (RFC 9068) und kein anderes JWT.',
    kid: 'Welcher Schlüssel es unterschrieben hat. Der öffentliche steht unter /.well-known/jwks.json.',
    preferred_username: 'Der Name des Benutzers, zum Anzeigen.',
    sid: 'Die Kennung dieser Anmeldung. Mit ihr kann eine Abmeldung alle ihre Tokens widerrufen.',
    auth_time: 'Wann der Benutzer das Passwort zuletzt eingegeben hat.',
    gen: 'Zählt die Passwortänderungen des Benutzers. Ein neues Passwort macht alle früheren Tokens ungültig.',
    iss: 'Wer es ausgestellt hat.',
    aud: 'Für wen es bestimmt ist. Ein anderer Dienst lehnt es ab.',
    sub: 'Die Kennung des Benutzers, um den es geht.',
    iat: 'Wann es unterschrieben wurde.',
    exp: 'Wann es endet: 15 Minuten später. So kurz, weil nichts gespeichert ist, das man löschen könnte.',
    jti: 'Die Kennung dieses einen Tokens.',
    signature:
      'Mit dem privaten Schlüssel des Servers aus allem davor berechnet. Ändern Sie oben ein Zeichen, und sie passt nicht mehr.',
  },
  copyCurl: 'Als curl kopieren',
  copied: 'Kopiert. In ein Terminal eingefügt, sendet der Befehl diese Anfrage noch einmal.',
  notCopied: 'Der Browser erlaubt das Kopieren nicht. Der Befehl ist ausgewählt: Drücken Sie Strg+C.',
  visitField: 'führt diese Anfrage zu Ihrer Kopie des Dienstes. Es ist kein Nachweis und in beiden Bahnen gleich.',
  otherCookies:
    '„…“ steht für den Wert eines Cookies, das zu einem anderen Teil des Dienstes gehört: Die Aufzeichnung hat ihn nicht.',
  titlesOfNotifications: ['Ihr Paket ist da', 'Anna hat Ihnen geantwortet', 'Der Tee ist fertig'],
  unexpected: {
    session:
      'Das ist nicht die Antwort dieses Schritts. Entweder hat ein Versuch die Sitzung beendet, oder der Browser hat das Cookie nicht gesendet.',
    token: 'Das ist nicht die Antwort dieses Schritts. Ein Versuch hat das Token beendet, oder es ist abgelaufen.',
  },
  troubles: {
    unreachable: 'Der Dienst antwortet nicht. Was Sie bisher gesehen haben, bleibt hier.',
    gone: 'Ihre Kopie des Dienstes gibt es nicht mehr: Sie wird nach einer Stunde gelöscht, oder nach zehn Minuten ohne Anfrage, oder wenn ein anderer Tab neu beginnt.',
    full: 'Alle Plätze der Vorführung sind besetzt.',
    tooMany: 'Von Ihrer Adresse aus wurden zu viele Vorführungen begonnen.',
    noCookies:
      'Ihr Browser behält das Cookie dieser Seite nicht. Erlauben Sie Cookies für diese Adresse und versuchen Sie es noch einmal.',
    other: 'Der Dienst hat unerwartet geantwortet.',
  },
  freeIn: plurals({
    one: 'Versuchen Sie es in # Minute noch einmal.',
    other: 'Versuchen Sie es in # Minuten noch einmal.',
  }),
  tryAgain: 'Noch einmal versuchen',
  startAgain: 'Neu beginnen',
})
