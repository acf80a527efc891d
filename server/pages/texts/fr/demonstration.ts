import type { Texts } from '../en/demonstration.ts'

export const texts: Texts = (plurals) => ({
  title: 'Session ou jeton : regardez-les travailler',
  lead: 'Vous vous connectez une fois. Comment le serveur sait-il, au clic suivant, que c’est toujours vous ? Il y a deux réponses, la session et le jeton. Cette page envoie les mêmes requêtes des deux façons, pour de vrai, et montre ce que garde le navigateur, ce qui circule et ce que garde le serveur.',
  walk: 'Le parcours',
  experiments: 'Expériences',
  laneNames: { session: 'Session', token: 'Jeton' },
  ideas: {
    session: {
      title: 'Le serveur se souvient de vous',
      text: 'À la connexion, le serveur enregistre une ligne à votre sujet et en donne le numéro au navigateur, dans un cookie. À chaque requête, il cherche cette ligne.',
      like: 'Comme au vestiaire : vous avez le numéro, ils gardent le manteau.',
    },
    token: {
      title: 'Vous portez une déclaration signée',
      text: 'À la connexion, le serveur écrit qui vous êtes, le signe et n’enregistre rien. À chaque requête, il vérifie sa propre signature.',
      like: 'Comme un passeport : qui connaît le sceau peut le vérifier, sans rien demander à personne.',
    },
  },
  ownWorld:
    'Pour vous seul, le service fait une petite copie de lui-même, avec sa base de données, ses clés, son horloge et ses cookies. Ce qui s’y passe ne concerne personne d’autre, et elle est supprimée après une heure.',
  begin: 'Commencer : demander sans preuve',
  next: 'Suite : ',
  toExperiments: 'Passer aux expériences',
  stepOf: (number) => `Étape ${number} sur 6`,
  linkToStep: 'Lien vers cette étape',
  sending: 'Envoi des requêtes de l’étape ',
  steps: {
    'without-proof': {
      short: 'Sans preuve',
      title: 'Demander sans preuve',
      intro:
        'Le navigateur demande une page réservée aux personnes connectées. Rien dans la requête ne dit qui demande.',
      finding: 'Les deux reçoivent 401. Tant qu’il n’y a pas de preuve, les deux variantes sont pareilles.',
    },
    'sign-in': {
      short: 'Connexion',
      title: 'Se connecter',
      intro:
        'Les deux voies envoient le même nom d’utilisateur et le même mot de passe. La différence est ce que fait le serveur une fois qu’il les a trouvés justes.',
      finding:
        'Dans chaque voie, le navigateur garde maintenant une preuve. Pour la session, le serveur a enregistré une ligne qui y correspond. Pour le jeton, il n’a rien enregistré. (Que les deux voies comptent l’essai et notent l’appareil concerne l’utilisateur, pas la preuve.)',
    },
    'with-proof': {
      short: 'Avec preuve',
      title: 'Redemander, avec la preuve',
      intro:
        'La requête de l’étape 1, encore une fois. Le navigateur ajoute le cookie de lui-même ; le script de cette page ajoute le jeton.',
      finding:
        'Les deux reçoivent 200. Pour accepter le cookie, le serveur a dû chercher sa ligne dans la base de données. Pour accepter le jeton, il n’a consulté aucune base : il a reconnu un jeton qu’il avait signé lui-même. Tout autre serveur recalcule la signature.',
    },
    list: {
      short: 'Liste',
      title: 'Lister les notifications',
      intro:
        'Passons à quelque chose d’utile : la boîte de réception. Les deux voies sont le même utilisateur, il n’y a donc qu’une boîte.',
      finding:
        'Les deux listes sont égales. La variante décide comment le serveur apprend qui demande, pas ce que cet utilisateur reçoit. La liste elle-même est dans la base de données : avec la session, elle est lue d’un seul coup ; avec le jeton, seule.',
    },
    'mark-one': {
      short: 'Une lue',
      title: 'En marquer une comme lue',
      intro: 'Chaque voie marque une autre notification de la même boîte.',
      finding:
        '204 : c’est fait, et il n’y a rien à ajouter. Les deux voies ont modifié la boîte. Avec un jeton, aucune connexion n’est enregistrée ; les données de l’utilisateur le sont quand même.',
    },
    'mark-all': {
      short: 'Toutes lues',
      title: 'Toutes les marquer comme lues',
      intro: 'Une seule requête pour toute la boîte, quel que soit le nombre de notifications.',
      finding:
        'De nouveau 204 dans les deux voies. La session est passée en premier et a marqué ce qui restait ; pour le jeton, il n’y avait plus rien à marquer, et ce n’est pas une erreur.',
    },
  },
  columns: { browser: 'Le navigateur garde', wire: 'Ce qui circule', server: 'Le serveur garde' },
  nothingInBrowser: 'Rien qui dise qui vous êtes.',
  cookieInBrowser: 'Un cookie',
  cookieNote:
    'Le navigateur l’envoie de lui-même. Aucun script ne peut le lire, pas même celui de cette page : vous le voyez ici d’après l’enregistrement du serveur.',
  tokenInBrowser: 'Un jeton, dans la mémoire de cette page',
  tokenNote:
    'Le script de la page le garde et l’ajoute à chaque requête. N’importe quel script de cette page pourrait le lire.',
  validUntil: 'Valable jusqu’au ',
  requestBy: 'Requête',
  responseTo: 'Réponse',
  allFields: plurals({ one: 'Afficher # autre champ', other: 'Tout afficher, # autres champs' }),
  fewerFields: 'N’afficher que l’important',
  nothingStored: 'Rien n’a été enregistré',
  nothingStoredYet: 'Rien sur ce navigateur.',
  nothingForToken:
    'Aucune ligne ne correspond à ce jeton. Le serveur garde une paire de clés, qui signe les jetons de tous les utilisateurs.',
  otherColumns: plurals({ one: '# autre colonne', other: '# autres colonnes' }),
  rowStored: 'Une ligne de la table ',
  kinds: { new: 'nouveau', changed: 'modifié', gone: 'supprimé' },
  tables: {
    session: 'La session de cette connexion',
    token_cutoff: 'Une révocation',
    known_device: 'Un appareil d’où l’utilisateur s’est connecté : pas une preuve, et pareil dans les deux voies',
    inbox: 'La boîte de réception de l’utilisateur',
    notification: 'Une notification',
  },
  rowFields: {
    user_id: 'à qui est la ligne',
    secret_hash: 'une empreinte du secret du cookie : qui vole la base de données ne peut pas en refaire le cookie',
    username: 'le nom à la connexion',
    created_at: 'la connexion ; la session se termine 30 jours plus tard',
    last_seen_at: 'la dernière utilisation ; une session inutilisée se termine plus tôt',
    sign_in_id: 'désigne cette connexion dans le journal',
    device: 'navigateur et système, pour la liste « Où vous êtes connecté »',
    address: 'd’où l’utilisateur s’est connecté',
    confirmed_at: 'quand l’utilisateur a redonné son mot de passe pour la dernière fois',
    has_tokens: 'si un jeton a été tiré de cette session',
  },
  diagramTitle: 'Ce qui s’est passé, dans l’ordre',
  diagramOf: (lane) => `${lane} : ce qui s’est passé, dans l’ordre`,
  actors: { browser: 'Navigateur', server: 'Serveur', store: 'Base' },
  notAsked: 'pas consultée',
  noTrace: 'Le détail du travail du serveur n’est pas affiché ici (CARILLON_DEMONSTRATION_TRACE).',
  proofs: { none: 'sans preuve', cookie: 'avec le cookie', token: 'avec le jeton', password: 'avec le mot de passe' },
  arrows: {
    request: (line, proof) => `Du navigateur au serveur : ${line}, ${proof}.`,
    response: (status) => `Du serveur au navigateur : ${status}.`,
    store: (what, ms) => `Du serveur à la base de données : ${what}, ${ms}.`,
    server: (what, ms) => `Dans le serveur : ${what}, ${ms}.`,
  },
  calls: {
    'store.findCredentials': 'lire l’empreinte',
    'passwords.verify': 'vérifier le mot de passe',
    'store.addSession': 'enregistrer la session',
    'store.findSession': 'chercher la session',
    'accessTokens.issue': 'signer le jeton',
    'accessTokens.verify found, signature': 'vérifier la signature',
    'accessTokens.verify found, remembered': 'reconnaître son propre jeton',
    'accessTokens.verify none, signature': 'vérifier la signature : refusée',
    'accessTokens.verify none, remembered': 'jeton reconnu : refusé',
    'store.guessRefusals': 'trop d’échecs ?',
    'store.reserveGuess': 'compter l’essai',
    'store.clearGuesses': 'oublier les essais d’avant',
    'store.factorsOf': 'un second facteur ?',
    'store.noteDevice': 'noter l’appareil',
    'store.readPage': 'lire la liste',
    'store.markRead': 'en marquer une comme lue',
    'store.markAllRead': 'toutes les marquer comme lues',
    'revocations.isRevoked': 'révoqué ? vu en mémoire',
  },
  allCalls: plurals({ one: '# appel dans le serveur', other: 'Les # appels dans le serveur' }),
  setsCookie: 'pose le cookie',
  givesToken: 'apporte le jeton',
  cookieApart: 'Le cookie, champ par champ',
  tokenApart: 'Le jeton, champ par champ',
  cookieFields: {
    name: 'Le nom sous lequel le navigateur le garde. La démonstration a le sien, pour ne pas toucher à votre vraie connexion.',
    user: 'L’identifiant de l’utilisateur. Il n’est pas secret ; grâce à lui, la ligne se trouve en un pas.',
    secret: '32 octets au hasard. Seul qui les a peut être cette session. Ils ne disent rien et ne se devinent pas.',
    Path: 'Le navigateur n’envoie le cookie qu’aux adresses sous ce chemin.',
    'Max-Age':
      'Combien de secondes le navigateur le garde : 30 jours. Le serveur termine la session selon sa propre horloge.',
    HttpOnly:
      'Aucun script ne peut le lire. Un script étranger dans la page pourrait s’en servir pour des requêtes, pas l’emporter.',
    SameSite: 'Lax : un formulaire ou une image d’un autre site ne l’apporte pas ; un simple lien, si.',
    Secure: 'Le navigateur ne l’envoie que par HTTPS.',
  },
  tokenPieces: ['En-tête', 'Déclarations', 'Signature'],
  tokenPieceNotes: [
    'comment il est signé',
    'de qui il s’agit et jusqu’à quand il vaut ; lisible par tous, rien n’y est secret',
    'la seule partie que personne d’autre ne peut faire',
  ],
  tokenFields: {
    alg: 'La sorte de signature : Ed25519. Le serveur n’en accepte pas d’autre, quoi que dise un jeton.',
    typ: 'C’est un jeton d’accès (RFC 9068), et pas une autre sorte de JWT.',
    kid: 'Quelle clé l’a signé. La clé publique est à /.well-known/jwks.json.',
    preferred_username: 'Le nom de l’utilisateur, pour l’afficher.',
    sid: 'L’identifiant de cette connexion. Grâce à lui, une déconnexion peut révoquer tous ses jetons.',
    auth_time: 'Quand l’utilisateur a donné son mot de passe pour la dernière fois.',
    gen: 'Compte les changements de mot de passe. Un nouveau mot de passe annule tous les jetons d’avant.',
    iss: 'Qui l’a émis.',
    aud: 'Pour qui il est fait. Un autre service le refuse.',
    sub: 'L’identifiant de l’utilisateur dont il s’agit.',
    iat: 'Quand il a été signé.',
    exp: 'Quand il se termine : 15 minutes plus tard. C’est court, car rien n’est enregistré que l’on pourrait supprimer.',
    jti: 'L’identifiant de ce seul jeton.',
    signature:
      'Calculée avec la clé privée du serveur à partir de tout ce qui précède. Changez un caractère plus haut, et elle ne convient plus.',
  },
  unknownField: 'Un autre champ.',
  copyCurl: 'Copier comme curl',
  copied: 'Copié. Collée dans un terminal, la commande envoie cette requête encore une fois.',
  notCopied: 'Le navigateur ne permet pas de copier. La commande est sélectionnée : appuyez sur Ctrl+C.',
  visitField:
    'mène cette requête à votre copie du service. Ce n’est pas une preuve, et il est pareil dans les deux voies.',
  otherCookies:
    '« … » remplace la valeur d’un cookie qui appartient à une autre partie du service : l’enregistrement ne l’a pas.',
  titlesOfNotifications: ['Votre colis est arrivé', 'Anna vous a répondu', 'Le thé est prêt'],
  unexpected: {
    session:
      'Ce n’est pas la réponse de cette étape. Soit une expérience a terminé la session, soit le navigateur n’a pas envoyé le cookie.',
    token: 'Ce n’est pas la réponse de cette étape. Une expérience a terminé le jeton, ou il a expiré.',
  },
  troubles: {
    unreachable: 'Le service ne répond pas. Ce que vous avez vu jusqu’ici reste à l’écran.',
    gone: 'Votre copie du service n’existe plus : elle est supprimée après une heure, après dix minutes sans requête, ou quand un autre onglet recommence.',
    full: 'Toutes les places de la démonstration sont prises.',
    tooMany: 'Trop de démonstrations ont été commencées depuis votre adresse.',
    noCookies:
      'Votre navigateur ne garde pas le cookie de cette page. Autorisez les cookies pour cette adresse, puis réessayez.',
    other: 'La réponse du service n’est pas celle attendue.',
  },
  freeIn: plurals({ one: 'Réessayez dans # minute.', other: 'Réessayez dans # minutes.' }),
  tryAgain: 'Réessayer',
  startAgain: 'Recommencer',
})
