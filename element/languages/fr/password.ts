import type { Texts } from '../en/password.ts'

export const texts: Texts = () => ({
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
  welcome: (service) => `Bienvenue sur ${service}`,
  signedIn: 'Vous êtes connecté. La prochaine fois, connectez-vous avec ce mot de passe.',
  invalidTitle: 'Ce lien ne fonctionne plus',
  invalid:
    'Il a déjà servi, il est trop ancien ou un lien plus récent le remplace. Si vous avez choisi un mot de passe avec ce lien, connectez-vous avec celui-ci.',
  missingTitle: 'Cette page a besoin du lien entier',
  missing:
    'Ouvrez de nouveau le lien que vous avez reçu, ou copiez-le en entier dans la barre d’adresse. Il se termine par # et 43 caractères.',
})
