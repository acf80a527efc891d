import type { Texts } from '../en/service.ts'

export const texts: Texts = (plurals) => ({
  frame: {
    description: (service) =>
      `${service} : se connecter, lire ses notifications et gérer son compte.`,
    skipToContent: 'Aller au contenu',
    navigation: 'Pages',
    inbox: 'Boîte de réception',
    account: 'Compte',
    operator: 'Administration',
    demonstration: 'Démonstration',
    documentation: 'Documentation',
    signIn: 'Se connecter',
    signOut: 'Se déconnecter',
    signedInAs: 'Connecté en tant que',
    needsScript:
      'Cette page nécessite JavaScript. Activez-le dans votre navigateur, puis rechargez la page.',
    unsupportedBrowser:
      'Cette page n’a pas pu démarrer. Rechargez-la. Si cela ne suffit pas, votre navigateur est peut-être trop ancien, ou une extension bloque la page.',
    failureTitle: 'Une erreur est survenue',
    notFoundTitle: 'Page introuvable',
    failures: {
      FORBIDDEN:
        'Le formulaire a été envoyé depuis un autre site et a donc été refusé. Rechargez cette page, puis renvoyez-le.',
      NOT_FOUND: 'Aucune page n’existe à cette adresse. Vérifiez que vous l’avez bien saisie.',
      TOO_MANY_REQUESTS: 'Trop de tentatives. Patientez un instant, puis réessayez.',
      UNAVAILABLE:
        'Le service est surchargé ou en cours d’arrêt. Rien n’est perdu. Réessayez dans un instant.',
      INVALID_REQUEST: 'Le formulaire était incomplet. Rechargez cette page.',
      INTERNAL: 'Une erreur s’est produite dans le service. Réessayez plus tard.',
      other: 'Le service a refusé cette demande. Rechargez la page.',
    },
    back: 'Retour',
  },
  signIn: {
    title: 'Connexion',
    continueTo: (host) => `pour continuer vers ${host}`,
    username: 'Nom d’utilisateur ou adresse e-mail',
    usernameAlone: 'Nom d’utilisateur',
    password: 'Mot de passe',
    showPassword: 'Afficher le mot de passe',
    hidePassword: 'Masquer le mot de passe',
    continue: 'Continuer',
    forgot: 'Mot de passe oublié ?',
    or: 'ou',
    withPasskey: 'Se connecter avec une clé d’accès',
    withProvider: (name) => `Se connecter avec ${name}`,
    failures: {
      INVALID_REQUEST: 'Saisissez votre nom d’utilisateur et votre mot de passe.',
      passwordEnded:
        'Ce mot de passe a été généré pour vous et n’est plus valable. Demandez-en un autre à l’administrateur de ce service.',
      INVALID_CREDENTIALS:
        'Le nom d’utilisateur ou le mot de passe est incorrect. Vérifiez les deux, puis réessayez.',
      UNAUTHORIZED:
        'La connexion a pris plus de 5 minutes, ou a été terminée dans une autre fenêtre. Saisissez de nouveau votre mot de passe.',
      FORBIDDEN:
        'Quelqu’un d’autre connaît peut-être ce mot de passe : il ne fonctionne donc plus sur de nouveaux appareils. Choisissez-en d’abord un autre.',
    },
    second: {
      title: 'Deuxième étape',
      intro: (username) =>
        `Votre mot de passe est correct, ${username}. Encore une étape pour vous connecter.`,
      introWithoutName: 'Plus qu’une étape.',
      code: 'Code',
      codeHint: 'Six chiffres, donnés par votre application d’authentification.',
      withPasskey: 'Utiliser votre clé d’accès',
      passkeyNeedsScript:
        'Votre clé d’accès nécessite JavaScript et un navigateur compatible. Un code de secours fonctionne toujours.',
      recovery: 'Utiliser un code de secours',
      recoveryCode: 'Code de secours',
      recoveryHint:
        'L’un des codes que vous avez gardés en configurant la deuxième étape. Chacun ne sert qu’une fois.',
      wrong:
        'Ce code est incorrect ou a déjà servi. Attendez le suivant, ou utilisez un autre code de secours.',
      empty: 'Saisissez un code.',
      startAgain: 'Recommencer',
    },
    setup: {
      title: 'Encore une étape',
      any: {
        now: 'Ce service exige une deuxième étape en plus du mot de passe. Configurez-la pour continuer. Si vous en avez déjà une, déconnectez-vous, puis connectez-vous avec elle.',
        until:
          'À partir du #, il vous faudra une deuxième étape en plus du mot de passe. Configurez-la maintenant, ou plus tard sur la page de votre compte.',
      },
      passkey: {
        now: 'Ce service exige une clé d’accès. Ajoutez-en une pour continuer. Si vous en avez déjà une, déconnectez-vous, puis connectez-vous avec elle.',
        until:
          'À partir du #, il vous faudra une clé d’accès. Ajoutez-la maintenant, ou plus tard sur la page de votre compte.',
      },
      link: 'D’autres connaissent peut-être votre mot de passe. Il vous faut donc d’abord un lien que vous seul recevez.',
      send: 'M’envoyer le lien par e-mail',
      ask: 'Demandez-le à l’administrateur de ce service.',
      start: 'Configurer maintenant',
      later: 'Plus tard',
    },
    linkSent:
      'Le lien est en route. Il arrive en quelques minutes ; regardez aussi dans les indésirables. Ouvrez-le dans ce navigateur.',
    signedIn: {
      title: 'Vous êtes connecté',
      as: (name) =>
        `En tant que ${name}. Si ce n’est pas vous, déconnectez-vous et utilisez votre propre compte.`,
      continueTo: (host) => `Continuer vers ${host}`,
    },
    signedOut: 'Vous êtes déconnecté.',
    erased: 'Votre compte est supprimé.',
    cookiesBlocked:
      'Votre navigateur bloque les cookies de ce site. Sans eux, vous ne pouvez pas rester connecté. Autorisez-les, puis rechargez la page.',
    stillSignedOut:
      'Vous venez de vous connecter, mais votre navigateur n’a pas gardé le cookie. Autorisez les cookies de ce site, puis reconnectez-vous.',
    noResponse:
      'Le service ne répond pas. Ce que vous avez saisi est toujours là. Vérifiez votre connexion, puis réessayez.',
    passkeyNotUsed:
      'Aucune clé d’accès n’a été utilisée. Réessayez, ou connectez-vous d’une autre manière.',
    passkeyUnknown:
      'Cette clé d’accès n’est associée à aucun compte de ce service. Connectez-vous d’une autre manière.',
    passkeyFailed:
      'La connexion avec la clé d’accès a échoué. Réessayez dans un instant, ou connectez-vous d’une autre manière.',
    forgotten: {
      intro:
        'Nous envoyons un lien à l’adresse e-mail de votre compte. Il vous permet de choisir un nouveau mot de passe.',
      submit: 'Envoyer le lien',
      empty: 'Saisissez votre nom d’utilisateur ou votre adresse e-mail.',
      sentTitle: 'Consultez votre messagerie',
      sent: 'Si ce compte existe et a une adresse e-mail, le lien est en route. Il arrive en quelques minutes ; regardez aussi dans les indésirables.',
      notSent: 'Vous n’avez rien reçu ? Adressez-vous à la personne qui a créé votre compte.',
      noMail:
        'Ce service n’envoie pas d’e-mails. Demandez à la personne qui a créé votre compte un lien pour choisir un nouveau mot de passe.',
      back: 'Retour à la connexion',
    },
    provider: {
      title: (name) => `La connexion avec ${name} a échoué`,
      INVALID_REQUEST:
        'Elle n’a pas commencé dans ce navigateur, a duré plus de 10 minutes ou était déjà terminée. Recommencez.',
      FORBIDDEN: (name) =>
        `Elle a été annulée ou refusée, ou votre compte chez ${name} n’appartient à aucun utilisateur actif ici. Réessayez, ou connectez-vous d’une autre manière.`,
      CONFLICT: (name) =>
        `Ce compte chez ${name} appartient ici à un autre utilisateur, ou un autre est déjà associé au vôtre. Rien n’a été modifié.`,
      UNAVAILABLE: (name) =>
        `${name} est injoignable pour le moment. Réessayez dans un instant, ou connectez-vous d’une autre manière.`,
    },
  },
  demonstrationPage: {
    title: 'Session ou jeton : regardez-les à l’œuvre',
    lead: 'Vous vous connectez une fois. Au clic suivant, comment le serveur sait-il que c’est encore vous ? Il y a deux réponses. Essayez les deux.',
  },
  front: {
    welcome: (service) => `Bienvenue sur ${service}`,
    welcomeText: 'Connectez-vous pour lire vos notifications et gérer votre compte.',
    hello: (user) => `Bonjour ${user}`,
    unread: plurals({
      one: 'Vous avez # notification non lue.',
      other: 'Vous avez # notifications non lues.',
    }),
    nothingUnread: 'Vous avez tout lu.',
    inboxText: 'Vos notifications, dès leur arrivée.',
    accountText:
      'Votre nom, votre langue, votre mot de passe, vos appareils et vos méthodes de connexion.',
    demonstrationText:
      'Voyez ce qui distingue une session d’un jeton : côte à côte, avec de vraies requêtes.',
    documentationText: 'Chaque route de l’API, avec des exemples à copier.',
    firstStartTitle: 'Première visite ?',
    firstStart:
      'Connectez-vous avec le nom d’utilisateur et le mot de passe que le premier démarrage a affichés dans le terminal, ou écrits dans ce fichier du dossier de données :',
    noUsersTitle: 'Il n’y a pas encore d’utilisateur',
    noUsers: 'Ajoutez-en un en ligne de commande, puis connectez-vous :',
  },
  operator: {
    needsFactor: {
      text: 'Le service est accessible depuis d’autres machines : pour cette page, un mot de passe ne suffit donc pas. Ajoutez d’abord une clé d’accès ou une application d’authentification à votre compte.',
      link: 'En ajouter une',
    },
  },
  inbox: {
    generatedPassword: 'Votre mot de passe a été généré et n’est valable que sept jours.',
    ownPassword: 'Choisissez le vôtre',
    category: 'Catégorie',
    allCategories: 'Toutes les catégories',
    settings: 'Réglages',
  },
  firstSteps: {
    title: 'Premiers pas',
    signedIn: 'Connexion réussie',
    test: 'Notification de test reçue',
    send: 'M’envoyer une notification',
    sent: 'Envoyée.',
    refused: 'Non envoyée : dix par heure au maximum, tant que vous êtes le seul utilisateur.',
    bell: 'Cloche sur votre page',
    address: 'Adresse de votre page',
    lines: 'Ajoutez ces deux lignes à la page :',
    setting: 'Et démarrez Carillon avec ce réglage :',
    key: 'Une clé à vous, pour les envois de votre application',
    notification: {
      title: 'Tout fonctionne',
      body: 'Cette notification est arrivée toute seule : vous n’avez pas eu à recharger la page.',
    },
  },
  docs: {
    intro:
      'Toutes les routes de l’API, leurs données et des exemples à copier ; les descriptions sont en anglais.',
    filter: 'Filtrer les routes',
    noMatch: 'Aucune route ne correspond.',
    copy: 'Copier',
    copied: 'Copié',
    notCopied: 'Bloqué par le navigateur',
  },
  password: {
    reset: {
      title: 'Choisir un nouveau mot de passe',
      newLink: 'Pour obtenir un nouveau lien, demandez-le là où vous avez demandé celui-ci.',
    },
    invite: {
      title: 'Choisir un mot de passe',
      newLink: 'Pour obtenir un nouveau lien, adressez-vous à la personne qui vous a invité.',
    },
    username: 'Votre nom d’utilisateur :',
    mailedTo: 'Ce lien a été envoyé à :',
    submit: 'Enregistrer le mot de passe',
    progress: 'Enregistrement du mot de passe…',
    doneTitle: 'Votre mot de passe est enregistré',
    done: 'Connectez-vous avec ce mot de passe ici ou dans votre application.',
    doneElsewhere:
      'Tous les autres appareils qui étaient connectés à votre compte sont déconnectés.',
    signedIn: 'Vous êtes connecté. La prochaine fois, connectez-vous avec ce mot de passe.',
    invalidTitle: 'Ce lien n’est plus valable',
    invalid:
      'Il a déjà servi, il a expiré ou un lien plus récent le remplace. Si vous avez choisi un mot de passe avec ce lien, connectez-vous avec celui-ci.',
    missingTitle: 'Le lien est incomplet',
    missing:
      'Ouvrez de nouveau le lien de l’e-mail, ou copiez-le en entier dans la barre d’adresse. Il se termine par # et 43 caractères.',
    requestLink: 'Demander un nouveau lien',
  },
  notices: {
    titles: {
      'password-changed': 'Votre mot de passe a été modifié',
      'email-changed': 'Votre adresse e-mail a été modifiée',
      'username-changed': 'Votre nom d’utilisateur a été modifié',
      'factor-added': 'Une application d’authentification a été ajoutée à votre compte',
      'passkey-added': 'Une clé d’accès a été ajoutée à votre compte',
      'factor-removed':
        'Une clé d’accès ou une application d’authentification a été supprimée de votre compte',
      'factors-reset':
        'Toutes les clés d’accès et applications d’authentification ont été supprimées de votre compte',
      'recovery-codes-created': 'De nouveaux codes de secours ont été créés pour votre compte',
      'provider-linked': 'Un compte d’un autre service a été associé au vôtre',
      'provider-unlinked': 'Un compte d’un autre service n’est plus associé au vôtre',
      'old-session-presented': 'Quelqu’un a utilisé une ancienne copie de votre connexion',
      'user-signed-out': 'Vous avez été déconnecté partout',
      'user-disabled': 'Votre compte a été désactivé',
      'user-enabled': 'Votre compte a été réactivé',
      'link-created': 'Un lien pour configurer votre connexion a été créé',
      'role-changed': 'Votre rôle a été modifié',
      'mail-stopped': 'Nous n’envoyons plus d’e-mails à votre adresse',
      'webhook-disabled': 'Un webhook a été désactivé',
      'mails-refused': 'Le serveur de messagerie refuse beaucoup d’adresses',
    },
    unknownDevice: 'un appareil inconnu',
    aBrowser: 'un navigateur',
    on: 'sur',
    newDevice: (device) => `Nouvelle connexion avec ${device}`,
    newDeviceText: (device, address) =>
      `Quelqu’un s’est connecté à votre compte avec ${device}, depuis l’adresse ${address}. Si ce n’était pas vous, ouvrez cette notification et choisissez « Ce n’était pas moi ».`,
    byUser: (device, address) => `Action effectuée avec ${device}, depuis l’adresse ${address}.`,
    byOperator: 'Action effectuée par un administrateur du service.',
    byApplication: 'Action effectuée par votre application.',
    byUnknown: 'Le service l’a détecté.',
    advice:
      'Si vous ne vous y attendiez pas, vérifiez votre compte et choisissez un nouveau mot de passe.',
    ended:
      'L’appareil a été déconnecté. Reconnectez-vous, vérifiez votre compte et choisissez un nouveau mot de passe.',
    webhookDisabled: (id, reason) =>
      `Le webhook ${id} n’a accepté aucune requête pendant trois jours, et ses événements ont été supprimés. La dernière erreur était : ${reason}. Réparez le destinataire, puis envoyez-lui un événement de test.`,
    mailsRefused:
      'Il a refusé définitivement plus de 20 adresses en une heure : il refuse peut-être ce service. Les lignes « send-given-up » du journal en donnent les raisons.',
    mailStopped:
      'Le serveur de messagerie de votre adresse a refusé nos e-mails sur deux jours, nous n’en envoyons donc plus. Demandez à l’administrateur du service ou de votre application de vérifier votre adresse. Les notifications arrivent toujours ici.',
  },
  push: {
    arrived: plurals({ one: '# nouvelle notification', other: '# nouvelles notifications' }),
  },
  unsubscribe: {
    title: 'Ne plus recevoir d’e-mails',
    question:
      'Souhaitez-vous désactiver les e-mails pour les notifications de ce type ? Elles continueront d’arriver dans votre boîte de réception.',
    questionAll:
      'Souhaitez-vous désactiver les e-mails pour toutes les notifications ? Elles continueront d’arriver dans votre boîte de réception.',
    submit: 'Désactiver ces e-mails',
    doneTitle: 'Ces e-mails sont désactivés',
    done: 'Vous ne recevrez plus d’e-mails pour les notifications de ce type. Elles continueront d’arriver dans votre boîte de réception.',
    doneAll:
      'Vous ne recevrez plus d’e-mails pour les notifications. Elles continueront d’arriver dans votre boîte de réception.',
  },
  mails: {
    reset: ({ username, until, service }) => ({
      subject: `Un nouveau mot de passe pour ${service}`,
      before: [
        `Quelqu’un a demandé un nouveau mot de passe sur ${service}, pour le compte`,
        username,
        `Pour choisir ce mot de passe, ouvrez ce lien. Il ne sert qu’une fois, jusqu’au ${until} :`,
      ],
      link: 'Choisir un nouveau mot de passe',
      after: ['Si ce n’était pas vous, ignorez cet e-mail : votre mot de passe reste le même.'],
    }),
    factor: ({ username, until, service }) => ({
      subject: `Configurez votre deuxième étape sur ${service}`,
      before: [
        `Quelqu’un s’est connecté sur ${service} avec le mot de passe du compte`,
        username,
        `et veut configurer une deuxième étape. Ouvrez ce lien dans le même navigateur. Il ne sert qu’une fois, jusqu’au ${until} :`,
      ],
      link: 'Configurer la deuxième étape',
      after: [
        'Si ce n’était pas vous, n’ouvrez pas ce lien. Quelqu’un connaît votre mot de passe : choisissez-en un nouveau.',
      ],
    }),
    unread: {
      subject: (count, service) =>
        `${plurals({ one: '# notification non lue', other: '# notifications non lues' })(count)} (${service})`,
      others: 'Autres',
      more: (count) => `et ${count} de plus`,
      open: 'Ouvrir la boîte de réception',
      settings: 'Choisir quand vous recevez des e-mails',
      unsubscribe: 'Ne plus recevoir ces e-mails',
    },
    test: ({ service }) => ({
      subject: `Cela fonctionne : un e-mail de ${service}`,
      before: [
        `Cet e-mail a été envoyé pour tester le serveur de messagerie de ${service}. Vous n’avez rien à faire.`,
      ],
      link: `Ouvrir ${service}`,
      after: [],
    }),
    changes: ({ count, title, lines, service }) => ({
      subject: `${count === 1 ? title : `${count} modifications de votre compte`} (${service})`,
      before: lines,
      link: 'Ouvrir votre compte',
      after: [],
    }),
  },
})
