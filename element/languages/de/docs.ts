import type { Texts } from '../en/docs.ts'

export const texts: Texts = () => ({
  intro: 'Alle Routen der API mit ihren Daten und Beispielen zum Kopieren; die Beschreibungen sind auf Englisch.',
  filter: 'Routen filtern',
  noMatch: 'Keine Route passt dazu.',
  copy: 'Kopieren',
  copied: 'Kopiert',
  notCopied: 'Der Browser erlaubt es nicht',
})
