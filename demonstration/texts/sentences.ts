// The sentences of the demonstration in English, German and French. The short texts are in labels.ts.
export const sentences = {
  says: {
    session: [
      'It stores a row about your sign-in. A cookie in your browser has the secret number of the row.',
      'Er speichert eine Zeile über Ihre Anmeldung. Ein Cookie im Browser hat deren geheime Nummer.',
      'Il enregistre une ligne sur votre connexion. Un cookie de votre navigateur en a le numéro secret.',
    ],
    token: [
      'The server writes down who you are, signs it, and keeps no copy. Your browser gets a token.',
      'Er schreibt auf, wer Sie sind, signiert das und behält keine Kopie. Ihr Browser bekommt ein Token.',
      'Le serveur écrit qui vous êtes, signe et n’en garde pas de copie. Votre navigateur reçoit un jeton.',
    ],
  },
  ownWorld: [
    'This makes a small service for you alone. It is deleted after an hour.',
    'Dafür entsteht ein kleiner Dienst nur für Sie. Nach einer Stunde wird er gelöscht.',
    'Un petit service est créé pour vous seul. Il est supprimé au bout d’une heure.',
  ],
  /** What to look at, above the pictures. */
  see: {
    'without-proof': [
      'Look at the envelope: it is empty. Nothing in it says who is asking.',
      'Achten Sie auf den Umschlag: Er ist leer. Nichts darin sagt, wer fragt.',
      'Regardez l’enveloppe : elle est vide. Rien n’y dit qui demande.',
    ],
    'sign-in': [
      'Look at what stays behind: a row in the database for the session, no row for the token.',
      'Sehen Sie, was zurückbleibt: für die Sitzung eine Zeile in der Datenbank, für das Token keine.',
      'Regardez ce qui reste : une ligne dans la base pour la session, aucune pour le jeton.',
    ],
    'with-proof': [
      'Look at who can check it. The other server has no database, only the public key.',
      'Sehen Sie, wer ihn prüfen kann. Der andere Server hat nur den öffentlichen Schlüssel.',
      'Regardez qui peut la vérifier. L’autre serveur n’a pas de base, seulement la clé publique.',
    ],
    inbox: [
      'Look at the database: now both need it, because the inbox is stored there.',
      'Achten Sie auf die Datenbank: Jetzt brauchen sie beide, denn dort liegen die Mitteilungen.',
      'Regardez la base : cette fois les deux en ont besoin, car les notifications y sont.',
    ],
    experiments: [
      'Seven things that happen. First say how they end, then run them with real requests.',
      'Sieben Dinge, die vorkommen. Sagen Sie erst, wie sie ausgehen. Dann laufen sie wirklich.',
      'Sept choses qui arrivent. Dites d’abord comment elles finissent, puis lancez-les vraiment.',
    ],
    stolen: [
      'A thief has copied your proof. Look: another browser, another address, and the same envelope.',
      'Ein Dieb hat Ihren Nachweis kopiert. Sehen Sie: anderer Browser, andere Adresse, derselbe Umschlag.',
      'Un voleur a copié votre preuve. Regardez : autre navigateur, autre adresse, et la même enveloppe.',
    ],
    signOut: [
      'You sign out, and the thief tries the copies again. Look at who has heard of your sign-out.',
      'Sie melden sich ab, und der Dieb versucht es noch einmal. Sehen Sie, wer von der Abmeldung weiß.',
      'Vous vous déconnectez, et le voleur réessaie ses copies. Regardez qui est au courant.',
    ],
    form: [
      'A page of another site sends “mark all as read” in your browser. Look at what the browser adds.',
      'Eine fremde Seite sendet in Ihrem Browser „alle gelesen“. Sehen Sie, was der Browser hinzufügt.',
      'Une page d’ailleurs envoie « tout marquer comme lu ». Regardez ce que votre navigateur ajoute.',
    ],
    script: [
      'A foreign script runs in this page. Look at which proof it can carry away.',
      'Ein fremdes Skript läuft in dieser Seite. Sehen Sie, welchen Nachweis es mitnehmen kann.',
      'Un script étranger tourne dans cette page. Regardez quelle preuve il peut emporter.',
    ],
    time: [
      'Your clock moves 16 minutes ahead. Look at where the end is written: in the token, or in the database.',
      'Ihre Uhr geht 16 Minuten vor. Sehen Sie, wo das Ende geschrieben steht: im Token oder in der Datenbank.',
      'Votre horloge avance de 16 minutes. Regardez où la fin est écrite : dans le jeton, ou dans la base.',
    ],
    outage: [
      'The database stops. Look at which proof can still be checked.',
      'Die Datenbank fällt aus. Sehen Sie, welcher Nachweis sich noch prüfen lässt.',
      'La base s’arrête. Regardez quelle preuve peut encore être vérifiée.',
    ],
    balancer: [
      'Ten requests go to five servers in turn. Look at what they share: nothing, a database, a public key.',
      'Zehn Anfragen gehen reihum an fünf Server. Sehen Sie, was sie teilen: nichts, Datenbank, Schlüssel.',
      'Dix requêtes vont à cinq serveurs tour à tour. Regardez ce qu’ils partagent : rien, une base, une clé.',
    ],
    result: [
      'What both cost, measured here and now, and when to take which.',
      'Was beide kosten, hier und jetzt gemessen, und wann Sie was nehmen.',
      'Ce que coûtent les deux, mesuré ici et maintenant, et quand prendre quoi.',
    ],
  },
  /** After the sign-out. */
  stillWorks: [
    'Without its row, a cookie names nothing. A token’s signature stays valid: “it still works” is right. This server refuses it only because it keeps a small list of revoked sign-ins.',
    'Ohne seine Zeile benennt ein Cookie nichts. Die Signatur eines Tokens bleibt gültig: „funktioniert noch“ ist richtig. Dieser Server lehnt es nur ab, weil er eine kleine Liste widerrufener Anmeldungen führt.',
    'Sans sa ligne, un cookie ne nomme rien. La signature d’un jeton reste valide : « il marche encore » est juste. Ce serveur ne le refuse que parce qu’il tient une petite liste des connexions révoquées.',
  ],
  /** What to remember. */
  follows: {
    'without-proof': [
      'Both get 401. Without a proof there is no difference yet.',
      'Beide bekommen 401. Ohne Nachweis gibt es noch keinen Unterschied.',
      'Les deux reçoivent 401. Sans preuve, il n’y a pas encore de différence.',
    ],
    'sign-in': [
      'The cookie is a number without meaning. The token says who you are, and the server signed it.',
      'Das Cookie ist eine Nummer ohne Bedeutung. Das Token sagt, wer Sie sind, vom Server signiert.',
      'Le cookie est un numéro sans signification. Le jeton dit qui vous êtes, et le serveur l’a signé.',
    ],
    'with-proof': [
      'A cookie must be looked up. A token is checked by its signature, wherever the public key is.',
      'Ein Cookie muss man nachschlagen. Ein Token prüft man an der Signatur, wo der Schlüssel ist.',
      'Un cookie se cherche dans la base. Un jeton se vérifie à sa signature, partout où est la clé.',
    ],
    inbox: [
      'The proof decides how the server knows you, not what you get. “Stateless” is only the sign-in.',
      'Der Nachweis entscheidet, woran man Sie erkennt. „Zustandslos“ ist nur die Anmeldung.',
      'La preuve décide comment on vous reconnaît. Seule la connexion est « sans état ».',
    ],
    stolen: [
      'To the server, a thief with your proof is you until the proof ends. Who can end it, and how soon?',
      'Wer einen Nachweis hat, ist Sie, bis er endet. Also: Wer kann ihn beenden, und wie schnell?',
      'Qui tient la preuve est vous jusqu’à sa fin. Demandez donc : qui peut y mettre fin, et quand ?',
    ],
    signOut: [
      'A session ends at once, everywhere; a token where the list is, and elsewhere when it expires.',
      'Eine Sitzung endet sofort und überall, ein Token nur, wo die Liste ist, sonst durch Ablauf.',
      'Une session finit aussitôt, partout ; un jeton là où est la liste, et ailleurs quand il expire.',
    ],
    form: [
      'SameSite keeps a cookie out of such forms; the server checks the origin too. A token is never added by itself.',
      'SameSite hält Cookies aus solchen Formularen; der Server prüft auch die Herkunft. Ein Token kommt nie von selbst.',
      'SameSite retient le cookie ; le serveur contrôle aussi l’origine. Aucun navigateur n’ajoute un jeton de lui-même.',
    ],
    script: [
      'No script can read an HttpOnly cookie; a page has to hold its token, so a script can take it.',
      'Kein Skript kann ein HttpOnly-Cookie lesen; ein Token hat die Seite, also kann ein Skript es nehmen.',
      'Aucun script ne lit un cookie HttpOnly ; une page détient son jeton, un script peut donc le prendre.',
    ],
    time: [
      'A session lasts for 7 days after each use, 30 in all; a token is short, and renewed for 12 hours.',
      'Eine Sitzung hält 7 Tage nach jeder Nutzung, höchstens 30; ein Token erneuert man 12 Stunden lang.',
      'Une session dure 7 jours après chaque usage, 30 au plus ; un jeton est court, et renouvelé 12 heures.',
    ],
    outage: [
      'A token can be checked without the database; 503 is no refusal: the cookie may still be valid.',
      'Ein Token lässt sich ohne Datenbank prüfen; 503 ist keine Ablehnung: Das Cookie kann noch gültig sein.',
      'Un jeton se vérifie sans la base ; 503 n’est pas un refus : le cookie est peut-être encore valide.',
    ],
    balancer: [
      'Each server has its own memory; a database is shared, with a look-up each time; a key needs none.',
      'Speicher hat jeder für sich; eine Datenbank teilen alle, mit Nachschlagen; ein Schlüssel braucht keins.',
      'Chaque serveur a sa mémoire ; une base est partagée, à une recherche par requête ; une clé suffit.',
    ],
  },
  /** What a sign-in stores for other reasons. */
  also: {
    audit: [
      'A line in the audit log, the record of what happened to your account.',
      'Eine Zeile im Protokoll, das festhält, was mit Ihrem Konto geschah.',
      'Une ligne du journal, qui retient ce qui est arrivé à votre compte.',
    ],
    device: [
      'A known device: guesses of others do not delay your next sign-in from here.',
      'Ein bekanntes Gerät: Fehlversuche anderer verzögern Ihre nächste Anmeldung von hier nicht.',
      'Un appareil connu : les essais des autres ne retardent pas votre prochaine connexion d’ici.',
    ],
    session: [
      'A second cookie (…-device) names the device. It does not sign you in.',
      'Ein zweites Cookie (…-device) benennt das Gerät und meldet niemanden an.',
      'Un second cookie (…-device) nomme l’appareil, et ne connecte personne.',
    ],
    token: [
      'The line names the sid, deviceToken names the device. No request is checked by either.',
      'Die Zeile nennt die sid, deviceToken das Gerät. Keine Anfrage wird damit geprüft.',
      'La ligne nomme le sid, deviceToken l’appareil. Aucune requête n’est vérifiée avec eux.',
    ],
  },
  visitField: [
    'Carillon-Visit and carillon-visit lead to your own service. “…” hides cookies of other services.',
    'Carillon-Visit und carillon-visit führen zu Ihrem Dienst. „…“ verbirgt Cookies anderer Dienste.',
    'Carillon-Visit et carillon-visit mènent à votre service. « … » cache les cookies d’autres services.',
  ],
  tryForge: [
    'Change any character: the signature no longer fits. Only this server’s private key makes a new one.',
    'Ändern Sie ein Zeichen: Die Signatur passt nicht mehr. Für eine neue fehlt Ihnen der private Schlüssel.',
    'Changez un caractère : la signature ne va plus. Seule la clé privée de ce serveur en fait une nouvelle.',
  ],
  notCopied: [
    'The browser does not allow copying. The text is selected: press Ctrl+C.',
    'Der Browser erlaubt das Kopieren nicht. Der Text ist markiert: Drücken Sie Strg+C.',
    'Le navigateur ne permet pas de copier. Le texte est sélectionné : appuyez sur Ctrl+C.',
  ],
  // The page puts a value in the place of each `#`.
  revocations: [
    'Revoked sign-ins in the list: #. The last entry ends at #.',
    'Widerrufene Anmeldungen in der Liste: #. Der letzte Eintrag endet: #.',
    'Connexions révoquées dans la liste : #. La dernière en sort : #.',
  ],
  expires: [
    'The copied token works at the other server for # more seconds.',
    'Beim anderen Server wird das kopierte Token noch # Sekunden angenommen.',
    'L’autre serveur accepte le jeton copié encore # secondes.',
  ],
  oneName: [
    'This service has one public name: a browser has no really other site here. Try it at localhost.',
    'Dieser Dienst hat nur einen Namen: Eine andere Website gibt es hier nicht. Versuchen Sie localhost.',
    'Ce service n’a qu’un nom public : il n’y a pas ici de site vraiment autre. Essayez sur localhost.',
  ],
  counted: [
    '# of 10 accepted, # look-ups',
    '# von 10 angenommen, #-mal nachgeschlagen',
    '# acceptées sur 10, # recherches',
  ],
  secondsStolen: [
    'After a sign-out, seconds until a stolen proof is useless',
    'Sekunden nach der Abmeldung, bis ein gestohlener Nachweis nutzlos ist',
    'Secondes après la déconnexion avant qu’une preuve volée soit inutile',
  ],
  advice: {
    session: [
      'Take a session if people sign in with a browser: no script reads it, and a sign-out works at once.',
      'Nehmen Sie eine Sitzung für Menschen im Browser: Kein Skript liest sie, und Abmelden wirkt sofort.',
      'Prenez une session pour des personnes au navigateur : aucun script ne la lit, se déconnecter agit aussitôt.',
    ],
    token: [
      'Take a token if programs or servers without your database must check who asks. Keep it short-lived.',
      'Nehmen Sie ein Token, wenn Programme oder Server ohne Ihre Datenbank prüfen, wer fragt. Halten Sie es kurz.',
      'Prenez un jeton si des programmes ou des serveurs sans votre base vérifient qui demande. Gardez-le court.',
    ],
    both: [
      'Take both if people use a browser and your servers call each other: short tokens from the session.',
      'Nehmen Sie beide, wenn Menschen im Browser arbeiten und Server einander rufen: innen kurze Token daraus.',
      'Prenez les deux si, derrière le navigateur, vos serveurs s’appellent : de courts jetons de la session.',
    ],
  },
  aboutKeys: [
    'A token names its key (kid), and servers fetch the public keys as a list, the key set. A new key is in it before it signs, the old one until its last token has expired: they overlap. A stolen key is dropped at once.',
    'Ein Token nennt seinen Schlüssel (kid), und Server holen die öffentlichen Schlüssel als Liste. Ein neuer steht darin, bevor er signiert, der alte, bis sein letztes Token abgelaufen ist: Sie überlappen sich. Ein gestohlener wird sofort verworfen.',
    'Un jeton nomme sa clé (kid), et les serveurs lisent la liste des clés publiques. Une nouvelle clé y figure avant de signer, l’ancienne jusqu’à l’expiration de son dernier jeton : elles se recouvrent. Une clé volée est retirée aussitôt.',
  ],
  troubles: {
    unreachable: [
      'The service does not respond. What you have seen so far stays here.',
      'Der Dienst antwortet nicht. Was Sie schon gesehen haben, bleibt hier stehen.',
      'Le service ne répond pas. Ce que vous avez vu jusqu’ici reste affiché.',
    ],
    gone: [
      'Your own service is gone: after an hour, after ten minutes without a request, or for another tab.',
      'Ihr eigener Dienst ist weg: nach einer Stunde, zehn Minuten ohne Anfrage, oder ein anderer Tab begann.',
      'Votre service n’existe plus : une heure a passé, dix minutes sans requête, ou un autre onglet a commencé.',
    ],
    full: [
      'All places of the demonstration are taken.',
      'Alle Plätze der Vorführung sind belegt.',
      'Toutes les places de la démonstration sont prises.',
    ],
    tooMany: [
      'There were too many requests from your address.',
      'Von Ihrer Adresse kamen zu viele Anfragen.',
      'Trop de requêtes sont venues de votre adresse.',
    ],
    noCookies: [
      'Your browser does not keep the cookie of this page. Allow cookies for this address.',
      'Ihr Browser behält das Cookie dieser Seite nicht. Erlauben Sie Cookies für diese Adresse.',
      'Votre navigateur ne garde pas le cookie de cette page. Autorisez les cookies pour cette adresse.',
    ],
    other: [
      'The service responded in an unexpected way.',
      'Der Dienst hat unerwartet geantwortet.',
      'Le service a répondu de façon inattendue.',
    ],
  },
}
