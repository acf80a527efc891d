import type { Texts } from '../en/experiments.ts'

type Words = ReturnType<Texts>

const experiments: Words['experiments'] = {
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

const facts: Words['facts'] = {
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
  cookieHidden: 'document.cookie ne contient pas le cookie',
  cookieReadable: 'document.cookie contient le cookie',
  tokenHidden: 'Le script n’a trouvé aucun jeton',
  tokenRead: 'Le script a lu le jeton dans une requête',
  usedByScript: 'Le script envoie lui-même une requête',
  formSent: 'Le formulaire de l’autre site',
  formHasCookie: 'Le navigateur a joint le cookie',
  formLacksCookie: 'Le navigateur n’a joint aucun cookie',
  formHasToken: 'Le navigateur a joint le jeton',
  formLacksToken: 'Le navigateur n’a joint aucun jeton',
  unread: 'Non lues avant et après',
  cookieContent: 'Dans le cookie : un identifiant et un nombre aléatoire',
  cookieHasClaims: 'Il a des indications avec une signature',
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

export const texts: Texts = (plurals) => ({
  title: 'Expériences',
  intro:
    'Prédisez d’abord, lancez ensuite. Chaque expérience ouvre une nouvelle connexion dans les deux couloirs, envoie de vraies requêtes à votre propre petit service et ne change rien d’autre.',
  predict: (lane) => `${lane} : que prédisez-vous ?`,
  run: 'Lancer l’expérience',
  runAgain: 'Relancer',
  choose: 'Choisissez d’abord une prédiction pour chaque couloir.',
  link: (title) => `Lien vers l’expérience « ${title} »`,
  experiments,
  progress: {
    signingIn: 'Connexion dans les deux couloirs…',
    copying: 'Le voleur copie les deux preuves…',
    signingOut: 'Déconnexion…',
    presenting: 'Présentation des deux preuves…',
    revoking: 'L’exploitant révoque toutes les connexions…',
    changing: 'Changement d’un caractère…',
    restarting: 'Le serveur redémarre…',
    advancing: 'L’horloge avance…',
    spying: 'Le script cherche la preuve…',
    waitingForForm: 'L’autre site envoie son formulaire…',
    checkingSignature: 'Vérification de la signature dans ce navigateur…',
    outage: plurals({
      one: 'La base de données revient dans # seconde.',
      other: 'La base de données revient dans # secondes.',
    }),
  },
  frameTitle: 'Page d’un autre site',
  facts,
  asPredicted: 'comme prédit',
  notAsPredicted: 'autrement que prédit',
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
