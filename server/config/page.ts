// The table of settings as the page docs/config.md; a test compares the two.
import { type Setting, table } from './settings.ts'

/** The text of docs/config.md. */
export function configPage(): string {
  return `${pageHead}\n${table.map(pageRow).join('\n')}\n`
}

const pageHead = `<!-- Made from the table in server/config/settings.ts; a test compares. To make it again:
node -e "import('./server/config/page.ts').then((c) => process.stdout.write(c.configPage()))" > docs/config.md -->

# Settings

Each setting is a name in the environment. An option of the command line goes before it, the default comes after it.

- \`NAME_FILE\` in place of \`NAME\` reads the value from a file, without its last line break. Setting both is an error.
- A duration is a number and its unit: \`500ms\`, \`30s\`, \`15m\`, \`12h\`, \`30d\`.
- A switch is \`on\` or \`off\`.
- A name that begins with \`CARILLON_\` and is not listed here is an error, so that a misspelt one is never ignored.
- An empty value is an error: leave the name out to get the default.
- All errors are reported at once, and nothing starts until there are none.

| setting | default | meaning | used by |
|---|---|---|---|`

function pageRow(setting: Setting): string {
  const initial = setting.default === undefined ? setting.absent : `\`${setting.default}\``
  const meaning = setting.secret ? `${setting.meaning} Secret: never shown or logged.` : setting.meaning
  const users = setting.commands?.map((command) => `\`${command}\``).join(', ') ?? 'all'
  return `| \`${setting.name}\` | ${initial} | ${meaning} | ${users} |`
}
