import type { Texts } from '../en/inbox-page.ts'

export const texts: Texts = () => ({
  title: 'Boîte de réception',
  category: 'Catégorie',
  allCategories: 'Toutes les catégories',
  settings: 'Réglages',
})
