import type { Texts } from '../en/inbox-page.ts'

export const texts: Texts = () => ({
  title: 'Posteingang',
  category: 'Kategorie',
  allCategories: 'Alle Kategorien',
  settings: 'Einstellungen',
})
