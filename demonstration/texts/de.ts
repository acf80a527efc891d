// The sentences of the demonstration in German.
import type { sentences as english } from './en.ts'

export const sentences: typeof english = {
  says: {
    session: 'Er speichert eine Zeile über Ihre Anmeldung. Ein Cookie im Browser hat deren geheime Nummer.',
    token: 'Er schreibt auf, wer Sie sind, signiert das und behält keine Kopie. Ihr Browser bekommt ein Token.',
  },
  ownWorld: 'Dafür entsteht ein kleiner Dienst nur für Sie. Nach einer Stunde wird er gelöscht.',
  see: {
    'without-proof': 'Achten Sie auf den Umschlag: Er ist leer. Nichts darin sagt, wer fragt.',
    'sign-in': 'Sehen Sie, was zurückbleibt: für die Sitzung eine Zeile in der Datenbank, für das Token keine.',
    'with-proof': 'Sehen Sie, wer ihn prüfen kann. Der andere Server hat nur den öffentlichen Schlüssel.',
    inbox: 'Achten Sie auf die Datenbank: Jetzt brauchen sie beide, denn dort liegen die Mitteilungen.',
    experiments: 'Sieben Dinge, die vorkommen. Sagen Sie erst, wie sie ausgehen. Dann laufen sie wirklich.',
    stolen: 'Ein Dieb hat Ihren Nachweis kopiert. Sehen Sie: anderer Browser, andere Adresse, derselbe Umschlag.',
    signOut: 'Sie melden sich ab, und der Dieb versucht es noch einmal. Sehen Sie, wer von der Abmeldung weiß.',
    form: 'Eine fremde Seite sendet in Ihrem Browser „alle gelesen“. Sehen Sie, was der Browser hinzufügt.',
    script: 'Ein fremdes Skript läuft in dieser Seite. Sehen Sie, welchen Nachweis es mitnehmen kann.',
    time: 'Ihre Uhr geht 16 Minuten vor. Sehen Sie, wo das Ende geschrieben steht: im Token oder in der Datenbank.',
    outage: 'Die Datenbank fällt aus. Sehen Sie, welcher Nachweis sich noch prüfen lässt.',
    balancer: 'Zehn Anfragen gehen reihum an fünf Server. Sehen Sie, was sie teilen: nichts, Datenbank, Schlüssel.',
    result: 'Was beide kosten, hier und jetzt gemessen, und wann Sie was nehmen.',
  },
  stillWorks:
    'Ohne seine Zeile benennt ein Cookie nichts. Die Signatur eines Tokens bleibt gültig: „funktioniert noch“ ist richtig. Dieser Server lehnt es nur ab, weil er eine kleine Liste widerrufener Anmeldungen führt.',
  follows: {
    'without-proof': 'Beide bekommen 401. Ohne Nachweis gibt es noch keinen Unterschied.',
    'sign-in': 'Das Cookie ist eine Nummer ohne Bedeutung. Das Token sagt, wer Sie sind, vom Server signiert.',
    'with-proof': 'Ein Cookie muss man nachschlagen. Ein Token prüft man an der Signatur, wo der Schlüssel ist.',
    inbox: 'Der Nachweis entscheidet, woran man Sie erkennt. „Zustandslos“ ist nur die Anmeldung.',
    stolen: 'Wer einen Nachweis hat, ist Sie, bis er endet. Also: Wer kann ihn beenden, und wie schnell?',
    signOut: 'Eine Sitzung endet sofort und überall, ein Token nur, wo die Liste ist, sonst durch Ablauf.',
    form: 'SameSite hält Cookies aus solchen Formularen; der Server prüft auch die Herkunft. Ein Token kommt nie von selbst.',
    script: 'Kein Skript kann ein HttpOnly-Cookie lesen; ein Token hat die Seite, also kann ein Skript es nehmen.',
    time: 'Eine Sitzung hält 7 Tage nach jeder Nutzung, höchstens 30; ein Token erneuert man 12 Stunden lang.',
    outage: 'Ein Token lässt sich ohne Datenbank prüfen; 503 ist keine Ablehnung: Das Cookie kann noch gültig sein.',
    balancer: 'Speicher hat jeder für sich; eine Datenbank teilen alle, mit Nachschlagen; ein Schlüssel braucht keins.',
  },
  also: {
    audit: 'Eine Zeile im Protokoll, das festhält, was mit Ihrem Konto geschah.',
    device: 'Ein bekanntes Gerät: Fehlversuche anderer verzögern Ihre nächste Anmeldung von hier nicht.',
    session: 'Ein zweites Cookie (…-device) benennt das Gerät und meldet niemanden an.',
    token: 'Die Zeile nennt die sid, deviceToken das Gerät. Keine Anfrage wird damit geprüft.',
  },
  visitField: 'Carillon-Visit und carillon-visit führen zu Ihrem Dienst. „…“ verbirgt Cookies anderer Dienste.',
  tryForge: 'Ändern Sie ein Zeichen: Die Signatur passt nicht mehr. Für eine neue fehlt Ihnen der private Schlüssel.',
  notCopied: 'Der Browser erlaubt das Kopieren nicht. Der Text ist markiert: Drücken Sie Strg+C.',
  revocations: (size, end) => `Widerrufene Anmeldungen in der Liste: ${size}. Der letzte Eintrag endet: ${end}.`,
  expires: (seconds) => `Beim anderen Server wird das kopierte Token noch ${seconds} Sekunden angenommen.`,
  oneName: 'Dieser Dienst hat nur einen Namen: Eine andere Website gibt es hier nicht. Versuchen Sie localhost.',
  counted: (accepted, lookUps) => `${accepted} von 10 angenommen, ${lookUps}-mal nachgeschlagen`,
  secondsStolen: 'Sekunden nach der Abmeldung, bis ein gestohlener Nachweis nutzlos ist',
  advice: {
    session: 'Nehmen Sie eine Sitzung für Menschen im Browser: Kein Skript liest sie, und Abmelden wirkt sofort.',
    token:
      'Nehmen Sie ein Token, wenn Programme oder Server ohne Ihre Datenbank prüfen, wer fragt. Halten Sie es kurz.',
    both: 'Nehmen Sie beide, wenn Menschen im Browser arbeiten und Server einander rufen: innen kurze Token daraus.',
  },
  aboutKeys:
    'Ein Token nennt seinen Schlüssel (kid), und Server holen die öffentlichen Schlüssel als Liste. Ein neuer steht darin, bevor er signiert, der alte, bis sein letztes Token abgelaufen ist: Sie überlappen sich. Ein gestohlener wird sofort verworfen.',
  troubles: {
    unreachable: 'Der Dienst antwortet nicht. Was Sie schon gesehen haben, bleibt hier stehen.',
    gone: 'Ihr eigener Dienst ist weg: nach einer Stunde, zehn Minuten ohne Anfrage, oder ein anderer Tab begann.',
    full: 'Alle Plätze der Vorführung sind belegt.',
    tooMany: 'Von Ihrer Adresse kamen zu viele Anfragen.',
    noCookies: 'Ihr Browser behält das Cookie dieser Seite nicht. Erlauben Sie Cookies für diese Adresse.',
    other: 'Der Dienst hat unerwartet geantwortet.',
  },
}
