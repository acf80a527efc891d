// Makes docs/config.md of the table of settings. The command is in its first lines; server/config/settings.test.ts compares the two.
import { type Setting, settings } from '../../server/config/settings.ts'
import { formatDuration } from '../../server/config/values.ts'

const head = '|---|---|---|---|---|\n'

/** `page`: the file, whose text above its table stays. */
export function settingsPage(page: string): string {
  return `${page.slice(0, page.indexOf(head))}${head}${settings.map(pageRow).join('\n')}\n`
}

function pageRow(setting: Setting): string {
  const initial =
    setting.default === undefined ? (setting.absent ?? 'not set') : `\`${setting.default}\``
  const meaning = setting.secret
    ? `${setting.meaning} Secret: never displayed or logged.`
    : setting.meaning
  const users = setting.commands.map((command) => `\`${command}\``).join(', ')
  return `| \`${setting.name}\` | ${initial} | ${rangeOf(setting)} | ${meaning} | ${users} |`
}

function rangeOf({ range, isTime }: Setting): string {
  if (range === undefined) return ''
  const [min, max] = [range.min, range.max].map((bound) => (isTime ? formatDuration(bound) : bound))
  return `${min} to ${max}`
}
