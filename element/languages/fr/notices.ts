import type { Texts } from '../en/notices.ts'

export const texts = (): Texts => ({
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
  ended: 'Cette connexion a été fermée. Reconnectez-vous, vérifiez votre compte et choisissez un nouveau mot de passe.',
})
