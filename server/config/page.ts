// Makes docs/config.md from the table of settings; a test compares the two.
import { type Setting, settings } from './settings.ts'

export function configPage(): string {
  return `${pageHead}\n${settings.map(pageRow).join('\n')}\n`
}

const pageHead = `<!-- Generated from the table in server/config/settings.ts; a test compares the two. To generate it:
node -e "import('./server/config/page.ts').then((c) => process.stdout.write(c.configPage()))" > docs/config.md -->

# Settings

Each setting is a name in the environment. An option of the command line overrides it; without either the default applies.

- \`NAME_FILE\` in place of \`NAME\` reads the value from a file, without its last line break. Setting both is an error.
- A duration is a number and its unit: \`500ms\`, \`30s\`, \`15m\`, \`12h\`, \`30d\`.
- A switch is \`on\` or \`off\`.
- A name that begins with \`CARILLON_\` and is not listed here is an error, so that a misspelt name is never ignored.
- An empty value is an error: leave the name out to get the default.
- All errors are reported at once, and no command runs until they are corrected.

| setting | default | meaning | used by |
|---|---|---|---|`

function pageRow(setting: Setting): string {
  const initial = setting.default === undefined ? (setting.absent ?? 'not set') : `\`${setting.default}\``
  const meaning = setting.secret ? `${setting.meaning} Secret: never displayed or logged.` : setting.meaning
  const users = setting.commands.map((command) => `\`${command}\``).join(', ')
  return `| \`${setting.name}\` | ${initial} | ${meaning} | ${users} |`
}
