import type { Texts } from '../en/requests.ts'

export const texts: Texts = (plurals) => ({
  failures: {
    NETWORK:
      'Le service ne répond pas. Vérifiez votre connexion, puis réessayez. Ce que vous avez saisi est toujours là.',
    UNREADABLE: 'La réponse ne venait pas de ce service. Réessayez plus tard.',
    UNAUTHORIZED: 'Vous êtes déconnecté.',
    INVALID_CREDENTIALS: 'Ce n’est pas correct. Vérifiez votre saisie, puis réessayez.',
    SECOND_FACTOR_REQUIRED:
      'Cette action demande votre second facteur, que ce navigateur ne peut pas utiliser. Prenez un autre navigateur ou un autre appareil.',
    FORBIDDEN: 'Le service a refusé cette action. Rechargez la page, puis réessayez.',
    FACTOR_UNREADABLE:
      'Ce service ne peut plus vérifier les codes de votre application d’authentification. Utilisez une clé d’accès ou un code de secours, ou demandez aux responsables de ce service de retirer l’application de votre compte.',
    NOT_FOUND: 'Cet élément n’existe plus. Rechargez la page.',
    CONFLICT: 'Cet élément a été modifié ailleurs au même moment. Rechargez la page.',
    PAYLOAD_TOO_LARGE: 'C’est trop long.',
    TOO_MANY_REQUESTS: 'Il y a eu trop de tentatives.',
    UNAVAILABLE: 'Le service est occupé.',
    other: 'Une erreur s’est produite dans le service. Réessayez plus tard.',
  },
  soon: 'Réessayez dans un instant.',
  inSeconds: plurals({ one: 'Réessayez dans # seconde.', other: 'Réessayez dans # secondes.' }),
  inMinutes: plurals({ one: 'Réessayez dans # minute.', other: 'Réessayez dans # minutes.' }),
  tryAgain: 'Réessayer',
  signInAgain: 'Se reconnecter',
  passwordFaults: {
    too_short: (minLength) => `Saisissez au moins ${minLength} caractères.`,
    too_long: 'Saisissez au plus 256 caractères.',
    too_common: 'Choisissez-en un autre : beaucoup de gens utilisent ce mot de passe, il est facile à deviner.',
    contains_name:
      'Choisissez-en un autre : celui-ci n’est guère plus que votre nom d’utilisateur ou le nom de ce service.',
    unusable: 'Saisissez-le sans retours à la ligne ni autres caractères invisibles.',
  },
})
