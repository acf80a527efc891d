import type { Texts } from '../en/demonstration.ts'
import type { Plurals } from '../plurals.ts'

const experiments: Texts['experiments']['experiments'] = {
  replay: {
    title: 'Réutiliser après la déconnexion',
    question: 'Un voleur a copié la preuve. Vous vous déconnectez. Le voleur présente alors la copie.',
    yes: 'La copie est acceptée',
    no: 'La copie est refusée',
    why: 'Le cookie ne fait que désigner une ligne de la base de données, et la déconnexion a supprimé cette ligne : la copie ne désigne plus rien. Un jeton n’a pas besoin de ligne. Sa signature reste valable, et un service qui ne vérifie que la signature accepte la copie jusqu’à son expiration. Carillon la refuse, car la déconnexion enregistre aussi une petite ligne, une révocation, que chaque processus garde en mémoire aussi longtemps que le jeton pourrait vivre.',
    follows:
      'Si une déconnexion doit agir tout de suite, prenez une session. Un jeton demande une liste de révocations.',
  },
  revokeAll: {
    title: 'Révoquer toutes les connexions',
    question: 'Un téléphone est perdu. L’exploitant révoque toutes les connexions de l’utilisateur.',
    yes: 'La preuve est encore acceptée',
    no: 'La preuve est refusée',
    why: 'Les sessions d’un utilisateur sont des lignes : le serveur peut les lister et les supprimer. Personne n’a la liste des jetons en circulation. Carillon enregistre une seule révocation pour tous : les connexions de cet utilisateur jusqu’à maintenant. Elle agit partout où elle est connue. Un service qui n’a que la clé publique accepte encore le jeton, 15 minutes au plus.',
    follows:
      'Toutes les sessions se terminent en un seul endroit. Les jetons se terminent là où la révocation arrive, et ailleurs par leur courte vie.',
  },
  changeCharacter: {
    title: 'Changer un caractère',
    question: 'Quelqu’un change un caractère de la preuve, peut-être pour devenir un autre utilisateur.',
    yes: 'La preuve modifiée est acceptée',
    no: 'La preuve modifiée est refusée',
    why: 'Le serveur enregistre une empreinte du cookie. Un autre caractère donne une autre empreinte, et aucune ligne ne l’a : seule la recherche le montre. La signature d’un jeton couvre chacun de ses caractères. La clé publique montre, sans aucune recherche, que le texte et la signature ne vont pas ensemble. Ni l’un ni l’autre ne se devine : le cookie a 256 bits aléatoires, et une signature demande la clé privée.',
    follows: 'Les deux résistent à la falsification : l’un par une recherche, l’autre par un calcul.',
  },
  restart: {
    title: 'Redémarrer le serveur',
    question: 'Le serveur s’arrête, oublie tout ce qu’il avait en mémoire, et redémarre.',
    yes: 'La preuve est encore acceptée',
    no: 'La preuve est refusée',
    why: 'La session est une ligne de la base de données, pas une variable du processus. Le jeton est chez le client, et la clé qui l’a signé est dans la base, chiffrée. Un service qui garderait ses sessions en mémoire, ou qui ferait une nouvelle clé à chaque démarrage, déconnecterait ici tout le monde.',
    follows: 'Les deux survivent, tant que les sessions et la clé de signature sont enregistrées.',
  },
  expiry: {
    title: 'Laisser expirer',
    question: 'L’horloge de votre service est avancée de 16 minutes. Pendant ce temps, la preuve n’a pas été utilisée.',
    yes: 'La preuve est encore acceptée',
    no: 'La preuve a expiré',
    why: 'La fin d’un jeton y est écrite et signée : 15 minutes après son émission. Personne ne peut la déplacer, un client renouvelle donc le jeton avant. La fin d’une session est dans la base de données et recule à chaque utilisation : 7 jours après la dernière, 30 jours après la connexion au plus tard. La dernière ligne vient de 8 jours plus tard encore.',
    follows: 'Pour des connexions longues, prenez une session. Un jeton est court exprès, et le client le renouvelle.',
  },
  script: {
    title: 'Un script essaie de lire la preuve',
    question:
      'Un script étranger s’exécute dans cette page, par exemple depuis une bibliothèque détournée. Il cherche la preuve.',
    yes: 'Le script la lit',
    no: 'Le script ne peut pas la lire',
    why: 'Le cookie est HttpOnly : le navigateur l’envoie et ne le montre à aucun script, pas même à cette page. Le jeton doit être dans la mémoire de la page, qui l’ajoute à chaque requête ; un script qui prend la place de fetch le voit donc. Comme le montre la dernière ligne, le script peut envoyer des requêtes avec les deux tant que la page est ouverte. Mais seul le jeton peut être emporté et utilisé ailleurs jusqu’à son expiration.',
    follows:
      'Dans un navigateur, préférez une session avec un cookie HttpOnly. Rien ne dispense d’empêcher les scripts étrangers.',
  },
  otherSite: {
    title: 'Un autre site envoie un formulaire',
    question:
      'Vous ouvrez la page d’un autre site. Elle envoie aussitôt un formulaire à votre service : tout marquer comme lu.',
    yes: 'Le formulaire agit en votre nom',
    no: 'Le formulaire ne fait rien',
    why: 'Les navigateurs ajoutent d’eux-mêmes les cookies aux requêtes : un formulaire d’un autre site pouvait autrefois agir en votre nom. SameSite=Lax tient le cookie hors d’un tel formulaire, et Carillon le refuse de toute façon si le navigateur dit qu’il vient d’un autre site. Un navigateur n’ajoute jamais un jeton de lui-même, et l’autre site ne l’a pas.',
    follows:
      'Un cookie demande SameSite et une vérification de l’origine. Un jeton dans un champ d’en-tête ne demande ni l’un ni l’autre.',
  },
  offline: {
    title: 'Lire le jeton hors ligne avec la clé publique',
    question:
      'Un autre service connaît la clé publique et n’a pas accès à la base de données. Peut-il être sûr de savoir à qui est cette preuve ?',
    yes: 'Oui, sans une requête',
    no: 'Non',
    why: 'Les indications d’un jeton sont signées, pas chiffrées : qui a le jeton peut les lire, et la clé publique prouve que Carillon les a écrites. Tout service peut donc vérifier seul, mais ne peut pas savoir si le jeton est révoqué. Le cookie contient l’identifiant de l’utilisateur et un nombre aléatoire, mais aucune signature : n’importe qui pourrait y écrire un autre identifiant. Seule la base de données sait s’ils vont ensemble.',
    follows:
      'Si plusieurs services vérifient des preuves sans base de données commune, prenez un jeton. N’y mettez aucun secret.',
  },
  outage: {
    title: 'La base de données disparaît dix secondes',
    question:
      'La base de données ne répond plus. Pendant ce temps, la route restreinte est appelée, qui n’a besoin d’aucune donnée.',
    yes: 'La preuve est acceptée',
    no: 'La requête échoue',
    why: 'Sans base de données, personne ne peut chercher une session : le service répond 503 et non 401, car la preuve est peut-être valable. Le jeton est vérifié en mémoire, une route sans données fonctionne donc. La liste des notifications est dans la base et échoue dans les deux couloirs. Ensuite tout fonctionne de nouveau, et personne n’a dû se reconnecter.',
    follows: 'Si une vérification ne doit pas dépendre de la base de données, ou la chargerait trop, prenez un jeton.',
  },
}

const facts: Texts['experiments']['facts'] = {
  before: 'Avant',
  signOut: 'Déconnexion',
  withCopy: 'Avec la copie',
  withChange: 'Avec le caractère changé',
  changedName: 'Le jeton modifié nomme l’utilisateur',
  after: 'Après',
  minutesLater: '16 minutes plus tard',
  daysLater: 'Encore 8 jours plus tard',
  signatureValid: 'Avec la clé publique seule, la signature est valable',
  signatureInvalid: 'Avec la clé publique seule, la signature n’est pas valable',
  cookiesOfScript: 'document.cookie, tel que le script le lit',
  fieldOfScript: 'Le champ Authorization, tel que le script le lit',
  usedByScript: 'Le script envoie lui-même une requête',
  formSent: 'Le formulaire de l’autre site',
  formCookie: 'Le cookie que le navigateur a joint',
  formToken: 'Le jeton que le navigateur a joint',
  unread: 'Non lues avant et après',
  cookieContent: 'Dans le cookie : un identifiant et un nombre aléatoire',
  cookieLacksClaims: 'Il n’a aucune signature qu’une clé pourrait vérifier',
  claims: 'Lu dans le jeton',
  requests: 'Requêtes nécessaires pour cela',
  noWebCrypto:
    'La signature n’a pas été vérifiée : les navigateurs n’ont pas Web Crypto sur une page reçue par simple HTTP. Ouvrez cette page par https:// ou sur localhost.',
  noEd25519:
    'La signature n’a pas été vérifiée : Web Crypto ne connaît pas Ed25519 dans ce navigateur. Essayez une version récente de Firefox, Safari ou Chrome.',
  during: 'Pendant que la base a disparu',
  duringList: 'La liste, qui est dans la base',
}

const ofExperiments = (plurals: Plurals): Texts['experiments'] => ({
  title: 'Expériences',
  intro:
    'Prédisez d’abord, lancez ensuite. Chaque expérience ouvre une nouvelle connexion dans les deux couloirs, envoie de vraies requêtes à votre propre petit service et ne change rien d’autre.',
  predict: (lane) => `${lane} : que prédisez-vous ?`,
  run: 'Lancer l’expérience',
  runAgain: 'Relancer',
  choose: 'Choisissez d’abord une prédiction pour chaque couloir.',
  link: (title) => `Lien vers l’expérience « ${title} »`,
  experiments,
  running: 'Envoi des requêtes dans les deux couloirs…',
  outage: plurals({
    one: 'La base de données revient dans # seconde.',
    other: 'La base de données revient dans # secondes.',
  }),
  frameTitle: 'Page d’un autre site',
  facts,
  result: 'Résultat',
  right: 'Vous l’aviez prédit.',
  wrong: (predicted) => `Vous aviez prédit : ${predicted}.`,
  notMeasured: 'Non mesuré dans ce navigateur',
  whyTitle: 'Pourquoi',
  wire: 'Ce qui est passé sur le réseau',
  trace: 'Ce que le serveur a fait',
  table: {
    title: 'Quand prendre quoi ?',
    intro: 'Le tableau se remplit avec vos expériences.',
    caption: 'Ce que vous avez mesuré, et ce qui en découle',
    experiment: 'Expérience',
    follows: 'Ce qui en découle',
    notRun: 'Pas encore lancée',
    run: plurals({ one: '# expérience faite sur 9.', other: '# expériences faites sur 9.' }),
    session: 'Prenez une session',
    sessionText:
      'pour des personnes dans un navigateur : les scripts n’atteignent pas la preuve, une déconnexion agit tout de suite, et une connexion peut durer des semaines. Chaque requête coûte une recherche.',
    token: 'Prenez un jeton',
    tokenText:
      'pour des programmes, des applications et des services sans base de données commune : qui a la clé publique peut le vérifier. Qu’il vive peu de temps, car il est difficile d’y mettre fin plus tôt.',
    forget: 'Oublier mes résultats',
  },
  again: 'Vos prédictions sont conservées. Relancez l’expérience.',
  tabs: {
    other:
      'La démonstration est aussi ouverte dans un autre onglet. Les deux partagent un cookie et un petit service : travaillez dans un seul, sinon vous mesurez ce que l’autre a fait.',
    running: 'Une expérience est en cours dans un autre onglet. Attendez qu’elle se termine, puis lancez celle-ci.',
  },
})

export const texts = (plurals: Plurals): Texts => ({
  title: 'Session ou jeton : regardez-les travailler',
  lead: 'Vous vous connectez une fois. Comment le serveur sait-il, au clic suivant, que c’est toujours vous ? Il y a deux réponses, la session et le jeton. Cette page envoie les mêmes requêtes des deux façons, pour de vrai, et montre ce que garde le navigateur, ce qui circule et ce que garde le serveur.',
  walk: 'Le parcours',
  experiments: ofExperiments(plurals),
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
  kinds: { new: 'nouveau', changed: 'modifié', gone: 'supprimé' },
  tables: {
    session: 'La session de cette connexion',
    token_cutoff: 'Une révocation',
    known_device: 'Un appareil d’où l’utilisateur s’est connecté : pas une preuve, et pareil dans les deux voies',
    inbox: 'La boîte de réception de l’utilisateur',
    notification: 'Une notification',
  },
  rowFields: {
    secret_hash: 'une empreinte du secret du cookie : qui vole la base de données ne peut pas en refaire le cookie',
    created_at: 'la connexion ; la session se termine 30 jours plus tard',
    last_seen_at: 'la dernière utilisation ; une session inutilisée se termine plus tôt',
    confirmed_at: 'quand l’utilisateur a redonné son mot de passe pour la dernière fois',
    has_tokens: 'si un jeton a été tiré de cette session',
  },
  diagramTitle: 'Ce qui s’est passé, dans l’ordre',
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
