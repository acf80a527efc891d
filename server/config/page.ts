// Makes the table of docs/config.md from that of settings; a test compares the two.
import { type Setting, settings } from './settings.ts'

const head = '|---|---|---|---|\n'

/** `page`: docs/config.md, whose text above the table stays. */
export function configPage(page: string): string {
  return `${page.slice(0, page.indexOf(head))}${head}${settings.map(pageRow).join('\n')}\n`
}

function pageRow(setting: Setting): string {
  const initial = setting.default === undefined ? (setting.absent ?? 'not set') : `\`${setting.default}\``
  const meaning = setting.secret ? `${setting.meaning} Secret: never displayed or logged.` : setting.meaning
  const users = setting.commands.map((command) => `\`${command}\``).join(', ')
  return `| \`${setting.name}\` | ${initial} | ${meaning} | ${users} |`
}
