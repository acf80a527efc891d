import type { Texts } from '../en/docs.ts'

export const texts: Texts = () => ({
  intro: 'Toutes les routes de l’API, leurs données et des exemples à copier ; les descriptions sont en anglais.',
  filter: 'Filtrer les routes',
  noMatch: 'Aucune route ne correspond.',
  copy: 'Copier',
  copied: 'Copié',
  notCopied: 'Le navigateur ne le permet pas',
})
