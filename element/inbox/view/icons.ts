// Small pictures with the colour of the text around them: the icons that a notification may name, and those of the controls.
import type { TemplateResult } from 'lit'
import type { Lit } from './item.ts'

const circle = 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18'
const paths: Readonly<Record<string, string>> = {
  bell: 'M6 10a6 6 0 0 1 12 0c0 5 2 6 2 7H4c0-1 2-2 2-7M10 20a2 2 0 0 0 4 0',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  info: `${circle}M12 11v5M12 8v.01`,
  warning: 'M12 4 2.5 20h19zM12 10v4M12 17v.01',
  error: `${circle}M9 9l6 6M15 9l-6 6`,
  message: 'M4 5h16v11H9l-5 4z',
  user: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8M4 20c0-4 4-6 8-6s8 2 8 6',
  calendar: 'M4 6h16v14H4zM4 10h16M8 3v4M16 3v4',
  money: 'M3 6h18v12H3zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5M6 12v.01M18 12v.01',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  archive: 'M3 4h18v4H3zM5 8v12h14V8M10 12h4',
  unarchive: 'M4 13v7h16v-7M12 4v11M8 11l4 4 4-4',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
}

/** Undefined for a name that has no picture. */
export function picture(name: string, { html }: Lit): TemplateResult | undefined {
  if (!Object.hasOwn(paths, name)) return undefined
  return html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d=${paths[name]}></path></svg>`
}
