import type { Texts } from '../en/service.ts'

export const texts: Texts = (plurals) => ({
  front: {
    welcome: (service) => `Bienvenue sur ${service}`,
    welcomeText: 'Connectez-vous pour lire vos notifications et gérer votre compte.',
    hello: (user) => `Bonjour, ${user}`,
    unread: plurals({ one: 'Vous avez # notification non lue.', other: 'Vous avez # notifications non lues.' }),
    nothingUnread: 'Vous avez tout lu.',
    inboxText: 'Vos notifications, dès leur arrivée.',
    accountText: 'Votre nom, votre langue, votre mot de passe, vos appareils et vos seconds facteurs.',
    demonstrationText: 'Voyez ce qui distingue une session d’un jeton : côte à côte, avec de vraies requêtes.',
    documentationText: 'Chaque route de l’API, avec des exemples à copier.',
    firstStartTitle: 'Première visite ?',
    firstStart: (username) =>
      `Connectez-vous en tant que ${username}. Le premier démarrage a affiché le mot de passe dans le terminal, ou l’a écrit dans ce fichier du dossier de données :`,
    noUsersTitle: 'Il n’y a pas encore d’utilisateur',
    noUsers: 'Ajoutez-en un en ligne de commande, puis connectez-vous :',
  },
  inbox: {
    title: 'Boîte de réception',
    category: 'Catégorie',
    allCategories: 'Toutes les catégories',
    settings: 'Réglages',
  },
  docs: {
    intro: 'Toutes les routes de l’API, leurs données et des exemples à copier ; les descriptions sont en anglais.',
    filter: 'Filtrer les routes',
    noMatch: 'Aucune route ne correspond.',
    copy: 'Copier',
    copied: 'Copié',
    notCopied: 'Le navigateur ne le permet pas',
  },
  password: {
    reset: {
      title: 'Choisir un nouveau mot de passe',
      label: 'Nouveau mot de passe',
      newLink: 'Pour obtenir un nouveau lien, demandez-le là où vous avez demandé celui-ci.',
    },
    invite: {
      title: 'Choisir un mot de passe',
      label: 'Mot de passe',
      newLink: 'Pour obtenir un nouveau lien, écrivez aux personnes qui vous ont invité.',
    },
    username: 'Votre nom d’utilisateur :',
    show: 'Afficher le mot de passe',
    hide: 'Masquer le mot de passe',
    submit: 'Enregistrer le mot de passe',
    progress: 'Enregistrement du mot de passe…',
    doneTitle: 'Votre mot de passe est enregistré',
    done: 'Connectez-vous avec ce mot de passe ici ou dans votre application.',
    doneElsewhere: 'Tous les autres appareils qui étaient connectés à votre compte sont déconnectés.',
    signedIn: 'Vous êtes connecté. La prochaine fois, connectez-vous avec ce mot de passe.',
    invalidTitle: 'Ce lien ne fonctionne plus',
    invalid:
      'Il a déjà servi, il est trop ancien ou un lien plus récent le remplace. Si vous avez choisi un mot de passe avec ce lien, connectez-vous avec celui-ci.',
    missingTitle: 'Cette page a besoin du lien entier',
    missing:
      'Ouvrez de nouveau le lien que vous avez reçu, ou copiez-le en entier dans la barre d’adresse. Il se termine par # et 43 caractères.',
  },
  notices: {
    titles: {
      'password-changed': 'Votre mot de passe a été modifié',
      'email-changed': 'Votre adresse e-mail a été modifiée',
      'username-changed': 'Votre nom d’utilisateur a été modifié',
      'factor-added': 'Une application d’authentification a été ajoutée à votre compte',
      'passkey-added': 'Une clé d’accès a été ajoutée à votre compte',
      'factor-removed': 'Un second facteur ou une clé d’accès a été supprimé de votre compte',
      'factors-reset': 'Tous les seconds facteurs et clés d’accès ont été supprimés de votre compte',
      'recovery-codes-created': 'De nouveaux codes de secours ont été créés pour votre compte',
      'provider-linked': 'Un compte d’un autre service a été lié au vôtre',
      'provider-unlinked': 'Un compte d’un autre service n’est plus lié au vôtre',
      'old-session-presented': 'Quelqu’un a utilisé une ancienne copie de votre connexion',
    },
    unknownDevice: 'un appareil inconnu',
    byUser: (device, address, time) => `Cela a été fait avec ${device}, depuis l’adresse ${address}, le ${time}.`,
    byOperator: (time) => `Cela a été fait par les responsables du service, le ${time}.`,
    byApplication: (time) => `Cela a été fait par votre application, le ${time}.`,
    byUnknown: (time) => `Cela a été fait le ${time}.`,
    advice: 'Si vous ne vous y attendiez pas, vérifiez votre compte et choisissez un nouveau mot de passe.',
    ended:
      'Cette connexion a été fermée. Reconnectez-vous, vérifiez votre compte et choisissez un nouveau mot de passe.',
  },
  mails: {
    reset: ({ username, until, service }) => ({
      subject: `Un nouveau mot de passe pour ${service}`,
      before: [
        `Un nouveau mot de passe a été demandé sur ${service} pour le compte`,
        username,
        `Pour le choisir, ouvrez ce lien. Il fonctionne une fois, jusqu’au ${until} :`,
      ],
      link: 'Choisir un nouveau mot de passe',
      after: ['Si ce n’était pas vous, ignorez ce message : votre mot de passe reste le même.'],
    }),
    changes: ({ count, title, lines, service }) => ({
      subject: `${count === 1 ? title : `${count} modifications de votre compte`} (${service})`,
      before: lines,
      link: 'Ouvrir votre compte',
      after: [],
    }),
  },
})
