import type { Texts } from '../en/mail.ts'

export const texts: Texts = () => ({
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
})
