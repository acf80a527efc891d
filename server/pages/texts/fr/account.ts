import type { Texts } from '../en/account.ts'

export const texts: Texts = (plurals) => ({
  sections: 'Parties de cette page',
  passwordDemanded: 'Quelqu’un d’autre s’est connecté à votre compte et connaît peut-être votre mot de passe.',
  passwordLink: 'Choisir un nouveau mot de passe',
  profile: {
    title: 'Nom et langue',
    username: 'Nom d’utilisateur',
    email: 'Adresse e-mail',
    verified: 'vérifiée',
    notVerified: 'non vérifiée',
    name: 'Nom affiché',
    nameHint: 'Les autres voient ce nom. Sans lui, ils voient votre nom d’utilisateur.',
    save: 'Enregistrer',
    nameSaved: 'Votre nom est enregistré.',
    nameRefused: 'Écrivez au plus 200 caractères, sans retour à la ligne ni autre caractère de contrôle.',
    language: 'Langue',
    languageHint: 'Pour ces pages, sur tous vos appareils.',
    asTheBrowser: 'Celle de mon navigateur',
    languageSaved: 'La langue est enregistrée.',
  },
  password: {
    title: 'Mot de passe',
    none: 'Vous n’avez pas de mot de passe ici : vous vous connectez avec un compte d’un autre fournisseur.',
    current: 'Mot de passe actuel',
    next: 'Nouveau mot de passe',
    rules: plurals({
      one: 'Au moins # caractère. Plusieurs mots sont faciles à retenir.',
      other: 'Au moins # caractères. Plusieurs mots sont faciles à retenir.',
    }),
    show: 'Afficher les mots de passe',
    change: 'Changer le mot de passe',
    effect: 'Vous resterez connecté ici et serez déconnecté partout ailleurs.',
    wrong: 'Ce n’est pas votre mot de passe actuel.',
    missing: 'Écrivez d’abord votre mot de passe actuel.',
    changed: 'Votre mot de passe est changé. Tous les autres appareils sont déconnectés.',
  },
  preferences: {
    title: 'Préférences',
    hint: 'Elles valent pour ce navigateur sur cet appareil.',
    theme: 'Apparence',
    themes: { auto: 'Comme cet appareil', light: 'Claire', dark: 'Sombre' },
    notKept:
      'Votre navigateur ne conserve rien pour ce site : ce choix ne dure que jusqu’à ce que vous quittiez la page. Autorisez les cookies et les données de site pour changer cela.',
  },
  confirm: {
    title: 'Confirmez que c’est vous',
    text: 'Votre connexion date de plus de dix minutes, et ce changement concerne votre manière de vous connecter.',
    submit: 'Confirmer',
    cancel: 'Annuler',
    labels: {
      password: 'Mot de passe',
      code: 'Code de votre application d’authentification',
      recoveryCode: 'Code de secours',
    },
    ways: {
      password: 'Utiliser le mot de passe',
      passkey: 'Utiliser une clé d’accès',
      code: 'Utiliser l’application d’authentification',
      recoveryCode: 'Utiliser un code de secours',
    },
    faults: {
      password: 'Ce n’est pas votre mot de passe.',
      passkey: 'La clé d’accès n’a pas été utilisée : annulée, trop tard, ou pas une des vôtres.',
      code: 'Ce code est faux ou a déjà été utilisé. Attendez le suivant.',
      recoveryCode: 'Ce code de secours est faux ou a déjà été utilisé.',
    },
    otherwise:
      'Si rien de tout cela n’est possible, déconnectez-vous, reconnectez-vous et faites le changement dans les dix minutes.',
  },
})
