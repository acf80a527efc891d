import type { Texts } from '../en/demonstration.ts'

export const texts: Texts = (plurals) => ({
  title: 'Sitzung oder Token: beiden bei der Arbeit zusehen',
  lead: 'Sie melden sich einmal an. Woher weiß der Server beim nächsten Klick, dass noch immer Sie es sind? Es gibt zwei Antworten, die Sitzung und das Token. Diese Seite sendet dieselben Anfragen auf beide Arten, und zwar wirklich, und zeigt, was der Browser behält, was unterwegs ist und was der Server behält.',
  walk: 'Der Rundgang',
  experiments: 'Versuche',
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
  linkToStep: 'Link zu diesem Schritt',
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
  otherColumns: plurals({ one: '# weitere Spalte', other: '# weitere Spalten' }),
  rowStored: 'Eine Zeile der Tabelle ',
  kinds: { new: 'neu', changed: 'geändert', gone: 'gelöscht' },
  tables: {
    session: 'Die Sitzung dieser Anmeldung',
    token_cutoff: 'Ein Widerruf',
    known_device: 'Ein Gerät, auf dem der Benutzer sich angemeldet hat: kein Nachweis, und in beiden Bahnen gleich',
    inbox: 'Der Posteingang des Benutzers',
    notification: 'Eine Benachrichtigung',
  },
  rowFields: {
    user_id: 'wessen Zeile es ist',
    secret_hash: 'ein Hash des Geheimnisses im Cookie: Wer die Datenbank stiehlt, kann daraus kein Cookie machen',
    username: 'der Name bei der Anmeldung',
    created_at: 'die Anmeldung; 30 Tage später endet die Sitzung',
    last_seen_at: 'die letzte Verwendung; eine Sitzung, die niemand verwendet, endet früher',
    sign_in_id: 'nennt diese Anmeldung im Protokoll',
    device: 'Browser und System, für die Liste „Wo Sie angemeldet sind“',
    address: 'von wo aus der Benutzer sich angemeldet hat',
    confirmed_at: 'wann der Benutzer das Passwort zuletzt erneut eingegeben hat',
    has_tokens: 'ob aus dieser Sitzung ein Token entstanden ist',
  },
  diagramTitle: 'Was geschah, der Reihe nach',
  diagramOf: (lane) => `${lane}: was geschah, der Reihe nach`,
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
  allCalls: plurals({ one: '# Aufruf im Server', other: 'Alle # Aufrufe im Server' }),
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
  unknownField: 'Ein weiteres Feld.',
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
