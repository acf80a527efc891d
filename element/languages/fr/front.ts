import type { Texts } from '../en/front.ts'

export const texts: Texts = (plurals) => ({
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
})
