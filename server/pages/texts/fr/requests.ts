import type { Texts } from '../en/requests.ts'

export const texts: Texts = (plurals) => ({
  failures: {
    NETWORK:
      'Le service ne répond pas. Vérifiez votre connexion, puis réessayez. Ce que vous avez saisi est toujours là.',
    UNREADABLE: 'La réponse ne venait pas de ce service. Réessayez plus tard.',
    UNAUTHORIZED: 'Vous êtes déconnecté.',
    INVALID_CREDENTIALS: 'Ce n’est pas correct. Vérifiez votre saisie, puis réessayez.',
    SECOND_FACTOR_REQUIRED:
      'Cette action demande votre deuxième étape de connexion, et ce navigateur ne la prend pas en charge. Utilisez un autre navigateur ou un autre appareil.',
    FORBIDDEN: 'Le service a refusé cette action. Rechargez la page, puis réessayez.',
    FACTOR_UNREADABLE:
      'Ce service ne peut plus vérifier les codes de votre application d’authentification. Utilisez une clé d’accès ou un code de secours, ou demandez à l’administrateur de ce service de supprimer l’application de votre compte.',
    NOT_FOUND: 'Cet élément n’existe plus. Rechargez la page.',
    CONFLICT: 'Cet élément a été modifié ailleurs au même moment. Rechargez la page.',
    PAYLOAD_TOO_LARGE: 'C’est trop long.',
    TOO_MANY_REQUESTS: 'Trop de tentatives.',
    UNAVAILABLE: 'Le service est surchargé.',
    other: 'Une erreur s’est produite dans le service. Réessayez plus tard.',
  },
  soon: 'Réessayez dans un instant.',
  inSeconds: plurals({ one: 'Réessayez dans # seconde.', other: 'Réessayez dans # secondes.' }),
  inMinutes: plurals({ one: 'Réessayez dans # minute.', other: 'Réessayez dans # minutes.' }),
  tryAgain: 'Réessayer',
  signInAgain: 'Se reconnecter',
  passwordFaults: {
    too_short: (minLength) => `Saisissez au moins ${minLength} caractères.`,
    too_long: 'Saisissez 256 caractères au maximum.',
    too_common:
      'Choisissez-en un autre : beaucoup de gens utilisent ce mot de passe, il est facile à deviner.',
    contains_name:
      'Choisissez-en un autre : celui-ci se résume presque à votre nom d’utilisateur ou au nom de ce service.',
    unusable: 'Saisissez-le sans retours à la ligne ni autres caractères invisibles.',
  },
})
