// The header fields by which proxies name a user to applications, and the lines that drop them in docs/proxies/forward-authentication/. nginx
// and Traefik drop a field by its name, Caddy by a part of it. `node tools/generators/identity-fields.ts` writes them.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const families: Readonly<Record<string, readonly string[]>> = {
  Remote: ['User', 'Name', 'User-Id', 'Email', 'Groups', 'Roles'],
  'X-Remote': ['User', 'Name', 'User-Id', 'Email', 'Groups', 'Roles'],
  'X-Auth-Request': ['User', 'Email', 'Groups', 'Preferred-Username', 'Access-Token', 'Name'],
  'X-Authentik': ['Username', 'Groups', 'Entitlements', 'Email', 'Name', 'Uid', 'Jwt'],
  'X-Forwarded': ['User', 'Email', 'Groups', 'Preferred-Username', 'Access-Token'],
}
/** Carillon sets these. */
const ours = ['Remote-User', 'Remote-Name', 'Remote-User-Id']

export const identityFields = Object.entries(families).flatMap(([family, ends]) =>
  ends.map((end) => `${family}-${end}`),
)

/** Every spelling with hyphens and underscores: to many programs they are the same name. */
export function spellings(name: string): string[] {
  const parts = name.split('-').map((part) => [part])
  return parts.reduce((begun, [part]) => begun.flatMap((text) => [`${text}-${part}`, `${text}_${part}`]))
}

const prefixes = Object.keys(families).flatMap((name) => (name === 'X-Forwarded' ? [] : spellings(`${name}-`)))

const lines: Readonly<Record<string, readonly string[]>> = {
  'nginx.conf': identityFields
    .filter((name) => !ours.includes(name))
    .map((name) => `        proxy_set_header ${name} "";`),
  Caddyfile: [
    ...prefixes.map((prefix) => `\t\t\trequest_header -${prefix}*`),
    ...identityFields
      .filter((name) => name.startsWith('X-Forwarded-'))
      .flatMap(spellings)
      .map((name) => `\t\t\trequest_header -${name}`),
  ],
  'traefik.yml': identityFields.flatMap(spellings).map((name) => `          ${name}: ""`),
}

/** The text with the lines between the marks made again. */
export function withFields(text: string, file: string): string {
  const [before = '', rest = ''] = text.split(/(?<=# Begin: made by tools\/generators\/identity-fields\.ts\n)/)
  const after = rest.slice(rest.search(/^[ \t]*# End/m))
  return `${before}${(lines[file] ?? []).join('\n')}\n${after}`
}

if (import.meta.main)
  for (const file of Object.keys(lines)) {
    const path = join('docs/proxies/forward-authentication', file)
    writeFileSync(path, withFields(readFileSync(path, 'utf8'), file))
  }
