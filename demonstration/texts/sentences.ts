// Sentences in English, German and French. labels.ts has short texts, class.ts those for a class.
export const sentences = {
  says: {
    session: [
      'It stores a row about your sign-in. A cookie in your browser has the secret number of the row.',
      'Er speichert zu Ihrer Anmeldung eine Zeile. Ein Cookie in Ihrem Browser enthält deren geheime Nummer.',
      'Il enregistre une ligne pour votre connexion. Un cookie de votre navigateur en contient le numéro secret.',
    ],
    token: [
      'The server writes down who you are, signs it, and keeps no copy. Your browser gets a token.',
      'Der Server schreibt auf, wer Sie sind, signiert es und behält keine Kopie. Ihr Browser bekommt ein Token.',
      'Le serveur écrit qui vous êtes, signe le tout et n’en garde pas de copie. Votre navigateur reçoit un jeton.',
    ],
  },
  ownWorld: [
    'This makes a small service for you alone. It is deleted after ten minutes without a request.',
    'Dafür entsteht ein kleiner Dienst nur für Sie. Nach zehn Minuten ohne Anfrage wird er gelöscht.',
    'Un petit service est créé pour vous seul. Il est supprimé après dix minutes sans requête.',
  ],
  recorded: [
    'This is a recording of real requests. The page sends nothing.',
    'Das ist eine Aufzeichnung echter Anfragen. Die Seite sendet nichts.',
    'Ceci est un enregistrement de vraies requêtes. La page n’envoie rien.',
  ],
  aboutProof: [
    'A proof is what your browser shows with each request, so that the server knows that it is you: a cookie or a token.',
    'Ein Nachweis ist das, was Ihr Browser bei jeder Anfrage vorzeigt, damit der Server Sie erkennt: ein Cookie oder ein Token.',
    'Une preuve est ce que votre navigateur montre à chaque requête, pour que le serveur vous reconnaisse : un cookie ou un jeton.',
  ],
  see: {
    class: [
      'Ten questions that you can answer now, a proof of your own, and a handout.',
      'Zehn Fragen, die Sie jetzt beantworten können, ein eigener Nachweis zum Untersuchen und ein Handzettel.',
      'Dix questions auxquelles vous savez maintenant répondre, une preuve à vous à examiner, et une fiche.',
    ],
    'without-proof': [
      'Look at the envelope: it is empty. Nothing in it says who is asking.',
      'Achten Sie auf den Umschlag: Er ist leer. Nichts darin verrät, wer anfragt.',
      'Regardez l’enveloppe : elle est vide. Rien n’y indique qui fait la demande.',
    ],
    'sign-in': [
      'Look at what stays behind: a row in the database for the session, no row for the token.',
      'Achten Sie darauf, was zurückbleibt: für die Sitzung eine Zeile in der Datenbank, für das Token keine.',
      'Regardez ce qui reste : une ligne dans la base pour la session, aucune pour le jeton.',
    ],
    'with-proof': [
      'Look at who can check it. The other server has no database, only the public key.',
      'Achten Sie darauf, wer ihn prüfen kann. Der andere Server hat keine Datenbank, nur den öffentlichen Schlüssel.',
      'Regardez qui peut la vérifier. L’autre serveur n’a pas de base, seulement la clé publique.',
    ],
    inbox: [
      'Look at the database: now both need it, because the inbox is stored there.',
      'Achten Sie auf die Datenbank: Dort liegt der Posteingang, also brauchen beide sie.',
      'Regardez la base : cette fois, les deux en ont besoin, car la boîte de réception s’y trouve.',
    ],
    experiments: [
      'Seven things that happen. First say how they end, then run them with real requests.',
      'Sieben Fälle aus der Praxis. Sagen Sie erst, wie sie ausgehen; dann laufen sie mit echten Anfragen.',
      'Sept situations réelles. Dites d’abord comment elles finissent, puis lancez-les avec de vraies requêtes.',
    ],
    stolen: [
      'A thief has copied your proof. Look: another browser, another address, and the same envelope.',
      'Ein Dieb hat Ihren Nachweis kopiert. Achten Sie darauf: anderer Browser, andere Adresse, derselbe Umschlag.',
      'Un voleur a copié votre preuve. Regardez : un autre navigateur, une autre adresse, la même enveloppe.',
    ],
    signOut: [
      'You sign out, and the thief tries the copies again. Look at who has heard of your sign-out.',
      'Sie melden sich ab, und der Dieb versucht es noch einmal. Achten Sie darauf, wer von der Abmeldung weiß.',
      'Vous vous déconnectez, et le voleur essaie de nouveau ses copies. Regardez qui est au courant.',
    ],
    form: [
      'A page of another site sends “mark all as read” in your browser. Look at what the browser adds.',
      'Eine andere Website sendet in Ihrem Browser „Alle als gelesen markieren“. Achten Sie darauf, was er mitschickt.',
      'Une page d’un autre site envoie « tout marquer comme lu ». Regardez ce que votre navigateur ajoute.',
    ],
    script: [
      'A foreign script runs in this page. Look at which proof it can carry away.',
      'Ein fremdes Skript läuft auf dieser Seite. Achten Sie darauf, welchen Nachweis es mitnehmen kann.',
      'Un script injecté tourne dans cette page. Regardez quelle preuve il peut emporter.',
    ],
    time: [
      'Your clock moves 16 minutes ahead. Look at where the end is written: in the token, or in the database.',
      'Die Uhr springt um 16 Minuten vor. Achten Sie darauf, wo das Ende steht: im Token oder in der Datenbank.',
      'L’horloge avance d’un coup de 16 minutes. Regardez où la fin est écrite : dans le jeton ou dans la base.',
    ],
    outage: [
      'The database stops. Look at which proof can still be checked.',
      'Die Datenbank fällt aus. Achten Sie darauf, welcher Nachweis sich noch prüfen lässt.',
      'La base tombe en panne. Regardez quelle preuve peut encore être vérifiée.',
    ],
    balancer: [
      'Ten requests go to five servers in turn. Look at what they share: nothing, a database, a public key.',
      'Zehn Anfragen gehen reihum an fünf Server. Achten Sie darauf, was sie teilen: nichts, eine Datenbank, einen Schlüssel.',
      'Dix requêtes vont à cinq serveurs, à tour de rôle. Regardez ce qu’ils partagent : rien, une base, une clé.',
    ],
    result: [
      'What both cost, measured with real requests, and when to take which.',
      'Was beide kosten, gemessen an echten Anfragen, und wann Sie welches nehmen.',
      'Ce que coûtent les deux, mesuré sur de vraies requêtes, et lequel choisir.',
    ],
  },
  /** Beside the lanes, by act. A value replaces each `#`. */
  notes: {
    unnoticed: {
      session: [
        'After # hours the copied cookie still works. Each use prolongs it by 7 days, up to 30 days after the sign-in.',
        'Nach # Stunden gilt das kopierte Cookie immer noch. Nach jeder Nutzung gilt es 7 Tage, höchstens 30 Tage ab der Anmeldung.',
        'Après # heures, le cookie copié est encore accepté. Il le reste 7 jours après chaque utilisation, 30 au plus après la connexion.',
      ],
      token: [
        'The thief renews the copied token every 14 minutes, until # hours after the sign-in: no token ends later.',
        'Der Dieb erneuert das kopierte Token alle 14 Minuten, bis # Stunden nach der Anmeldung: Länger gilt keines.',
        'Le voleur renouvelle le jeton copié toutes les 14 minutes, jusqu’à # heures après la connexion : aucun ne dure plus longtemps.',
      ],
    },
    copied: {
      session: [
        'Its row is deleted. Without it, the cookie names nothing.',
        'Die Zeile des Cookies ist gelöscht. Ohne sie ist es wertlos.',
        'La ligne du cookie est supprimée. Sans elle, il ne vaut rien.',
      ],
      token: [
        'The signature is still valid. This server refuses the token only because it keeps a list of revoked sign-ins. The copied token works at the other server for # more seconds.',
        'Die Signatur ist immer noch gültig. Dieser Server lehnt das Token nur ab, weil er eine Liste widerrufener Anmeldungen führt. Der andere Server nimmt das kopierte Token noch # Sekunden lang an.',
        'La signature est toujours valide. Ce serveur ne refuse le jeton que parce qu’il tient une liste des connexions révoquées. L’autre serveur accepte encore le jeton copié pendant # secondes.',
      ],
    },
    everywhere: {
      token: [
        'Revoked sign-ins in the list: #. The last entry ends at #.',
        'Widerrufene Anmeldungen in der Liste: #. Der letzte Eintrag bleibt bis #.',
        'Connexions révoquées dans la liste : #. La dernière y reste jusqu’au #.',
      ],
    },
    oneName: {
      session: [
        'This service has one public name: a browser has no really other site here. Try it at localhost.',
        'Dieser Dienst hat nur einen Namen, deshalb gibt es hier keine wirklich andere Website. Versuchen Sie es unter localhost.',
        'Ce service n’a qu’un nom public : il n’y a donc pas ici de véritable autre site. Essayez sur localhost.',
      ],
    },
    formWithoutCookie: {
      session: [
        'Your browser sent the form without the cookie, because of SameSite=Lax.',
        'Wegen SameSite=Lax hat Ihr Browser das Formular ohne das Cookie gesendet.',
        'À cause de SameSite=Lax, votre navigateur a envoyé le formulaire sans le cookie.',
      ],
    },
    formWithCookie: {
      session: [
        'Your browser sent the cookie with the form. This server refused it, because the form came from another site.',
        'Ihr Browser hat das Cookie mitgeschickt. Dieser Server hat das Formular abgelehnt, weil es von einer anderen Website kam.',
        'Votre navigateur a envoyé le cookie avec le formulaire. Ce serveur a refusé le formulaire, car il venait d’un autre site.',
      ],
    },
    formAccepted: {
      session: [
        'The form was accepted.',
        'Das Formular wurde angenommen.',
        'Le formulaire a été accepté.',
      ],
    },
    form: {
      token: [
        'No browser adds a token by itself: a script of the page does it.',
        'Kein Browser schickt ein Token von selbst mit: Das tut ein Skript der Seite.',
        'Aucun navigateur n’ajoute de jeton de lui-même : c’est un script de la page qui le fait.',
      ],
      both: [
        'Unread: # before, # after.',
        'Ungelesen: vorher #, nachher #.',
        'Non lues : # avant, # après.',
      ],
    },
    reads: {
      session: [
        'The cookie is HttpOnly: the browser keeps it from scripts.',
        'Das Cookie ist HttpOnly: Der Browser verbirgt es vor Skripten.',
        'Le cookie est HttpOnly : le navigateur le cache aux scripts.',
      ],
      token: [
        'The page needs the token to send it, so a script in the page can read it.',
        'Die Seite braucht das Token, um es zu senden. Also kann auch ein Skript auf der Seite es lesen.',
        'La page a besoin du jeton pour l’envoyer : un script dans la page peut donc le lire aussi.',
      ],
    },
    use: {
      both: [
        'While the page is open, the script can do everything in your name. It need not take anything.',
        'Solange die Seite offen ist, kann das Skript alles in Ihrem Namen tun. Mitnehmen muss es dafür nichts.',
        'Tant que la page est ouverte, le script peut tout faire en votre nom, sans rien emporter.',
      ],
    },
    carried: {
      session: [
        'The script could take nothing.',
        'Das Skript konnte nichts mitnehmen.',
        'Le script n’a rien pu emporter.',
      ],
    },
    renewed: {
      session: [
        'Nothing to renew: each use prolongs the session.',
        'Nichts zu erneuern: Jede Nutzung verlängert die Sitzung.',
        'Rien à renouveler : chaque utilisation prolonge la session.',
      ],
    },
    unused: {
      token: [
        'It ended days ago.',
        'Es ist seit Tagen abgelaufen.',
        'Il a expiré il y a plusieurs jours.',
      ],
    },
  },
  follows: {
    'without-proof': [
      'Both get 401. Without a proof there is no difference yet.',
      'Beide bekommen 401. Ohne Nachweis gibt es noch keinen Unterschied.',
      'Les deux reçoivent 401. Sans preuve, il n’y a pas encore de différence.',
    ],
    'sign-in': [
      'The cookie has your user id and a secret, and means nothing without its row. The token says who you are, signed.',
      'Das Cookie enthält Ihre Benutzer-ID und ein Geheimnis; ohne seine Zeile ist es wertlos. Das Token sagt, wer Sie sind, und ist signiert.',
      'Le cookie contient votre identifiant et un secret, et ne vaut rien sans sa ligne. Le jeton dit qui vous êtes, et il est signé.',
    ],
    'with-proof': [
      'A cookie must be looked up. A token is checked by its signature, wherever the public key is.',
      'Ein Cookie muss nachgeschlagen werden. Ein Token lässt sich überall prüfen, wo der öffentliche Schlüssel ist.',
      'Un cookie se cherche dans la base. Un jeton se vérifie à sa signature, partout où se trouve la clé publique.',
    ],
    inbox: [
      'The proof decides how the server knows you, not what you get. “Stateless” is only the sign-in.',
      'Der Nachweis sagt, wer Sie sind, nicht, was Sie bekommen. „Stateless“ ist nur die Anmeldung.',
      'La preuve décide comment le serveur vous reconnaît, pas ce que vous recevez. Seule la connexion est « stateless ».',
    ],
    stolen: [
      'To the server, a thief with your proof is you until the proof ends. Who can end it, and how soon?',
      'Wer Ihren Nachweis hat, gilt als Sie, bis er abläuft. Wer kann ihn vorher ungültig machen, und wie schnell?',
      'Qui a votre preuve passe pour vous tant qu’elle est valable. Alors : qui peut y mettre fin, et en combien de temps ?',
    ],
    signOut: [
      'A session ends at once, everywhere; a token where the list is, and elsewhere when it expires.',
      'Eine Sitzung endet sofort, überall; ein Token dort, wo die Widerrufsliste ist, sonst, wenn es abläuft.',
      'Une session prend fin aussitôt, partout ; un jeton, là où est la liste des révocations, et ailleurs quand il expire.',
    ],
    form: [
      'A browser may add a cookie by itself, so the server also checks the origin. No browser adds a token.',
      'Ein Cookie kann der Browser von selbst mitschicken; darum prüft der Server auch, woher die Anfrage kommt. Ein Token schickt keiner von selbst mit.',
      'Un navigateur peut ajouter un cookie de lui-même ; le serveur vérifie donc aussi l’origine. Aucun n’ajoute de jeton.',
    ],
    script: [
      'No script can read an HttpOnly cookie; a page has to hold its token, so a script can take it.',
      'Kein Skript kann ein HttpOnly-Cookie lesen. Das Token dagegen liegt in der Seite, also kann ein Skript es mitnehmen.',
      'Aucun script ne peut lire un cookie HttpOnly ; la page, elle, détient son jeton, et un script peut donc le prendre.',
    ],
    time: [
      'A session lasts for 7 days after each use, 30 in all; a token is short, and renewed for 12 hours.',
      'Eine Sitzung gilt nach jeder Nutzung 7 Tage, insgesamt höchstens 30. Ein Token gilt kurz und lässt sich 12 Stunden lang erneuern.',
      'Une session dure 7 jours après chaque utilisation, 30 au plus ; un jeton est court, mais se renouvelle pendant 12 heures.',
    ],
    outage: [
      'A token can be checked without the database; 503 is no refusal: the cookie may still be valid.',
      'Ein Token lässt sich ohne Datenbank prüfen. 503 ist keine Ablehnung: Das Cookie ist vielleicht noch gültig.',
      'Un jeton se vérifie sans la base ; 503 n’est pas un refus : le cookie est peut-être encore valide.',
    ],
    balancer: [
      'Each server has its own memory; a database is shared, with a look-up each time; a key needs none.',
      'Seinen Speicher hat jeder Server für sich. Eine Datenbank teilen alle, müssen sie aber jedes Mal abfragen. Ein Schlüssel kommt ohne das aus.',
      'Chaque serveur a sa propre mémoire ; une base est partagée, mais lue à chaque requête ; une clé s’en passe.',
    ],
  },
  also: {
    audit: [
      'A line in the audit log, the record of what happened to your account.',
      'Eine Zeile im Protokoll, das festhält, was mit Ihrem Konto geschehen ist.',
      'Une ligne du journal, qui retrace ce qui est arrivé à votre compte.',
    ],
    device: [
      'A known device: guesses of others do not delay your next sign-in from here.',
      'Ein bekanntes Gerät: Fehlversuche anderer verzögern Ihre nächste Anmeldung auf diesem Gerät nicht.',
      'Un appareil connu : les essais des autres n’y retardent pas votre prochaine connexion.',
    ],
    session: [
      'A second cookie (…-device) names the device. It does not sign you in.',
      'Ein zweites Cookie (…-device) kennzeichnet das Gerät. Es meldet niemanden an.',
      'Un second cookie (…-device) identifie l’appareil. Il ne connecte personne.',
    ],
    token: [
      'The line names the sid, deviceToken names the device. No request is checked by either.',
      'Die Zeile enthält die sid, deviceToken kennzeichnet das Gerät. Keine Anfrage wird damit geprüft.',
      'La ligne contient le sid, deviceToken identifie l’appareil. Aucune requête n’est vérifiée avec eux.',
    ],
  },
  visitField: [
    'Carillon-Visit and carillon-visit lead to your own service. “…” hides cookies of other services.',
    'Carillon-Visit und carillon-visit führen zu Ihrem eigenen Dienst. „…“ verbirgt Cookies anderer Dienste.',
    'Carillon-Visit et carillon-visit mènent à votre propre service. « … » cache les cookies d’autres services.',
  ],
  tryForge: [
    'Change any character: the signature no longer fits. Only this server’s private key makes a new one. Anybody can read it: signed is not encrypted.',
    'Ändern Sie irgendein Zeichen: Die Signatur passt nicht mehr. Nur der private Schlüssel dieses Servers erzeugt eine neue. Lesen kann das Token jeder: Signiert ist nicht verschlüsselt.',
    'Changez n’importe quel caractère : la signature ne correspond plus. Seule la clé privée de ce serveur en crée une nouvelle. Tout le monde peut lire le jeton : signé ne veut pas dire chiffré.',
  ],
  notCopied: [
    'The browser does not allow copying. The text is selected: press Ctrl+C.',
    'Der Browser erlaubt das Kopieren nicht. Der Text ist markiert: Drücken Sie Strg+C.',
    'Le navigateur n’autorise pas la copie. Le texte est sélectionné : appuyez sur Ctrl+C.',
  ],
  counted: [
    '# of 10 accepted, # look-ups',
    '# von 10 angenommen, # Abfragen',
    '# acceptées sur 10, # lectures de la base',
  ],
  advice: {
    session: [
      'Take a session if people sign in with a browser: no script reads it, and a sign-out works at once.',
      'Nehmen Sie eine Sitzung, wenn sich Menschen im Browser anmelden: Kein Skript kann sie lesen, und Abmelden wirkt sofort.',
      'Choisissez une session si des personnes se connectent dans un navigateur : aucun script ne la lit, et la déconnexion est immédiate.',
    ],
    token: [
      'Take a token if programs or servers without your database must check who asks. Keep it short-lived.',
      'Nehmen Sie ein Token, wenn Programme oder Server ohne Ihre Datenbank prüfen müssen, wer anfragt. Lassen Sie es nur kurz gelten.',
      'Choisissez un jeton si des programmes ou des serveurs sans votre base doivent vérifier l’auteur d’une requête. Donnez-lui une courte durée de vie.',
    ],
    both: [
      'Take both if people use a browser and your servers call each other: short tokens from the session.',
      'Nehmen Sie beides, wenn Menschen im Browser arbeiten und Ihre Server einander aufrufen: kurzlebige Token, die aus der Sitzung ausgestellt werden.',
      'Choisissez les deux si des personnes utilisent un navigateur et que vos serveurs s’appellent entre eux : des jetons de courte durée, émis à partir de la session.',
    ],
    never: [
      'Never put a proof into an address, a log or localStorage. A token that names no audience works at every service that trusts its key.',
      'Schreiben Sie einen Nachweis nie in eine Adresse, ein Protokoll oder localStorage. Ein Token ohne Empfänger gilt bei jedem Dienst, der dem Schlüssel vertraut.',
      'N’écrivez jamais une preuve dans une adresse, un journal ou localStorage. Un jeton sans destinataire vaut pour tout service qui fait confiance à sa clé.',
    ],
    learns: [
      'A service that only checks tokens does not learn that a user was disabled or has another role, until the token ends.',
      'Ein Dienst, der nur Token prüft, erfährt erst nach deren Ablauf, dass ein Benutzer gesperrt ist oder eine andere Rolle hat.',
      'Un service qui ne fait que vérifier des jetons n’apprend qu’à leur expiration qu’un utilisateur est désactivé ou a changé de rôle.',
    ],
  },
  aboutKeys: [
    'A token names its key (kid), and servers fetch the public keys as a list, the key set. A new key is in it before it signs, the old one until its last token has expired: they overlap. A stolen key is dropped at once.',
    'Ein Token nennt seinen Schlüssel (kid), und Server laden die öffentlichen Schlüssel als Liste. Ein neuer steht darin, bevor er signiert, der alte, bis sein letztes Token abgelaufen ist: So gelten beide eine Zeit lang. Ein gestohlener wird sofort entfernt.',
    'Un jeton indique sa clé (kid), et les serveurs lisent la liste des clés publiques. Une nouvelle clé y figure avant de signer, l’ancienne y reste jusqu’à l’expiration de son dernier jeton : les deux coexistent un temps. Une clé volée est retirée aussitôt.',
  ],
  troubles: {
    unreachable: [
      'The service does not respond. What you have seen so far stays here.',
      'Der Dienst antwortet nicht. Was Sie schon gesehen haben, bleibt hier stehen.',
      'Le service ne répond pas. Ce que vous avez vu jusqu’ici reste affiché.',
    ],
    gone: [
      'Your own service is gone: after ten minutes without a request, or because another tab has started.',
      'Ihren eigenen Dienst gibt es nicht mehr: Zehn Minuten lang kam keine Anfrage, oder ein anderer Tab hat neu begonnen.',
      'Votre propre service n’existe plus : dix minutes sans requête, ou un nouveau départ dans un autre onglet.',
    ],
    full: [
      '# people are using it. Watch the recording on the site of the documentation meanwhile. Try again in # min.',
      'Gerade nutzen # Personen die Vorführung. Sehen Sie sich solange die Aufzeichnung auf der Website der Dokumentation an. Versuchen Sie es in # min wieder.',
      '# personnes utilisent la démonstration en ce moment. En attendant, regardez l’enregistrement sur le site de la documentation. Réessayez dans # min.',
    ],
    tooMany: [
      'Your own service has had 5,000 requests, the most that one may have.',
      'Ihr eigener Dienst hat 5.000 Anfragen bekommen. Mehr sind nicht erlaubt.',
      'Votre propre service a reçu 5 000 requêtes, le maximum autorisé.',
    ],
    noCookies: [
      'Your browser does not keep the cookie of this page. Allow cookies for this address.',
      'Ihr Browser speichert das Cookie dieser Seite nicht. Erlauben Sie Cookies für diese Adresse.',
      'Votre navigateur ne garde pas le cookie de cette page. Autorisez les cookies pour cette adresse.',
    ],
    other: [
      'The service responded in an unexpected way.',
      'Der Dienst hat unerwartet geantwortet.',
      'Le service a répondu de façon inattendue.',
    ],
  },
}
