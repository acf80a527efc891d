import type { Texts } from '../en/sign-in.ts'

export const texts: Texts = () => ({
  title: 'Connexion',
  continueTo: (host) => `pour continuer vers ${host}`,
  username: 'Nom d’utilisateur ou adresse e-mail',
  password: 'Mot de passe',
  show: 'Afficher',
  showPassword: 'Afficher le mot de passe',
  hide: 'Masquer',
  hidePassword: 'Masquer le mot de passe',
  submit: 'Se connecter',
  forgot: 'Mot de passe oublié ?',
  or: 'ou',
  withPasskey: 'Se connecter avec une clé d’accès',
  withProvider: (name) => `Se connecter avec ${name}`,
  failures: {
    INVALID_REQUEST: 'Écrivez votre nom d’utilisateur et votre mot de passe.',
    INVALID_CREDENTIALS: 'Le nom d’utilisateur ou le mot de passe est incorrect. Vérifiez les deux, puis réessayez.',
    UNAUTHORIZED:
      'Cela a duré plus de 5 minutes, ou a été terminé dans une autre fenêtre. Écrivez de nouveau votre mot de passe.',
    FORBIDDEN:
      'Ce mot de passe a été signalé comme connu d’autres personnes et ne fonctionne donc plus sur un nouvel appareil. Choisissez-en d’abord un nouveau.',
  },
  second: {
    title: 'Deuxième étape',
    intro: (username) => `Le mot de passe est correct. Montrez maintenant que c’est bien vous, ${username}.`,
    introWithoutName: 'Montrez maintenant que c’est bien vous.',
    code: 'Code',
    codeHint: 'Six chiffres, donnés par votre application d’authentification.',
    submit: 'Continuer',
    withPasskey: 'Utiliser votre clé d’accès',
    passkeyNeedsScript:
      'Votre clé d’accès a besoin de JavaScript et d’un navigateur qui connaît les clés d’accès. Un code de secours fonctionne toujours.',
    recovery: 'Utiliser un code de secours',
    recoveryCode: 'Code de secours',
    recoveryHint: 'Un de ceux que vous avez gardés en préparant la deuxième étape. Chacun ne sert qu’une fois.',
    wrong: 'Ce code est incorrect ou a déjà servi. Attendez le suivant, ou utilisez un autre code de secours.',
    empty: 'Écrivez un code.',
    startAgain: 'Recommencer',
  },
  signedIn: {
    title: 'Vous êtes connecté',
    as: (name) => `En tant que ${name}. Si ce n’est pas vous, déconnectez-vous et utilisez votre propre compte.`,
    continue: 'Continuer',
    continueTo: (host) => `Continuer vers ${host}`,
  },
  cookiesBlocked:
    'Votre navigateur bloque les cookies de ce site, et sans cookie il ne peut pas rester connecté. Autorisez les cookies, puis rechargez la page.',
  stillSignedOut:
    'Vous venez de vous connecter, mais votre navigateur n’a pas gardé le cookie. Autorisez les cookies de ce site, puis reconnectez-vous.',
  noResponse:
    'Il n’y a pas eu de réponse. Ce que vous avez écrit est toujours là. Vérifiez votre connexion, puis réessayez.',
  passkeyNotUsed: 'Aucune clé d’accès n’a été utilisée. Réessayez, ou connectez-vous d’une autre manière.',
  passkeyUnknown: 'Cette clé d’accès n’est pas connue ici. Connectez-vous d’une autre manière.',
  passkeyFailed:
    'La connexion avec la clé d’accès a échoué. Réessayez dans un instant, ou connectez-vous d’une autre manière.',
  forgotten: {
    title: 'Mot de passe oublié ?',
    intro:
      'Nous envoyons un lien avec lequel vous choisissez un nouveau mot de passe. Il va à l’adresse e-mail de votre compte.',
    label: 'Nom d’utilisateur ou adresse e-mail',
    submit: 'Envoyer le lien',
    empty: 'Écrivez votre nom d’utilisateur ou votre adresse e-mail.',
    sentTitle: 'Consultez votre messagerie',
    sent: 'Si ce compte existe et a une adresse e-mail, le lien est en route. Il arrive en quelques minutes ; regardez aussi dans les indésirables.',
    notSent: 'Pas de message ? Demandez aux personnes qui vous ont donné votre compte.',
    noMail:
      'Ce service n’envoie pas d’e-mails. Demandez aux personnes qui vous ont donné votre compte, ou qui gèrent ce service : elles peuvent créer un lien avec lequel vous choisissez un nouveau mot de passe.',
    back: 'Retour à la connexion',
  },
  provider: {
    title: (name) => `La connexion avec ${name} n’a pas fonctionné`,
    INVALID_REQUEST:
      'Elle n’a pas commencé dans ce navigateur, a duré plus de 10 minutes ou était déjà terminée. Recommencez.',
    FORBIDDEN: (name) =>
      `Elle a été annulée ou refusée, ou votre compte chez ${name} n’appartient à aucun utilisateur actif ici. Réessayez, ou connectez-vous d’une autre manière.`,
    CONFLICT: (name) =>
      `Ce compte chez ${name} appartient ici à un autre utilisateur, ou un autre vous est déjà lié. Rien n’a été modifié.`,
    UNAVAILABLE: (name) =>
      `${name} est injoignable pour le moment. Réessayez dans un instant, ou connectez-vous d’une autre manière.`,
  },
})
