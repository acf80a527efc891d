import type { Texts } from '../en/frame.ts'

export const texts: Texts = () => ({
  description: (service) => `${service} : se connecter, lire ses notifications et gérer son compte.`,
  skipToContent: 'Aller au contenu',
  navigation: 'Pages',
  inbox: 'Boîte de réception',
  account: 'Compte',
  demonstration: 'Démonstration',
  documentation: 'Documentation',
  signIn: 'Se connecter',
  signOut: 'Se déconnecter',
  signedInAs: 'Connecté en tant que',
  needsScript: 'Cette page a besoin de JavaScript. Autorisez-le dans votre navigateur, puis rechargez la page.',
  unsupportedBrowser:
    'Cette page n’a pas démarré. Rechargez-la. Si cela n’aide pas, votre navigateur est peut-être trop ancien, ou une extension la bloque.',
  failureTitle: 'Cela n’a pas fonctionné',
  failures: {
    FORBIDDEN:
      'Le formulaire venait d’un autre site et a donc été refusé. Rouvrez cette page et envoyez-le depuis celle-ci.',
    NOT_FOUND: 'Cette page n’existe pas.',
    TOO_MANY_REQUESTS: 'Il y a eu trop de tentatives. Attendez un instant, puis réessayez.',
    UNAVAILABLE: 'Le service est occupé ou s’arrête. Rien n’est perdu. Réessayez dans un instant.',
    INVALID_REQUEST: 'Le service n’a pas compris le formulaire. Rouvrez cette page.',
    INTERNAL: 'Une erreur s’est produite dans le service. Réessayez plus tard.',
    other: 'Le service a refusé cette demande. Rouvrez la page.',
  },
  back: 'Retour',
})
