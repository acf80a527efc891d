// The header fields by which proxies name a user to applications, the cookies of Carillon, and the lines that keep both from applications in
// docs/proxies/forward-authentication/. nginx and Traefik drop a field by its name, Caddy by a part of it. `node tools/generators/identity-fields.ts`
// writes them.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Caddy drops every field of these families. `X-Forwarded-` has other fields, which applications need. */
const families: Readonly<Record<string, readonly string[]>> = {
  Remote: ['User', 'Name', 'User-Id', 'Email', 'Group', 'Groups', 'Role', 'Roles'],
  'X-Remote': ['User', 'Name', 'User-Id', 'Uid', 'Email', 'Group', 'Groups', 'Role', 'Roles'],
  'X-WEBAUTH': ['USER', 'NAME', 'FULLNAME', 'EMAIL', 'GROUPS', 'ROLE'],
  'X-Auth-Request': ['User', 'Email', 'Groups', 'Preferred-Username', 'Access-Token', 'Name'],
  'X-Authentik': ['Username', 'Groups', 'Entitlements', 'Email', 'Name', 'Uid', 'Jwt'],
  'X-Forwarded': [
    'User',
    'Username',
    'Email',
    'Group',
    'Groups',
    'Preferred-Username',
    'Access-Token',
  ],
}
/** Carillon sets these. */
const ours = ['Remote-User', 'Remote-Name', 'Remote-User-Id']

export const identityFields = Object.entries(families).flatMap(([family, ends]) =>
  ends.map((end) => `${family}-${end}`),
)

/** Every spelling with hyphens and underscores: to many programs they are the same name. */
export function spellings(name: string): string[] {
  const parts = name.split('-').map((part) => [part])
  return parts.reduce((begun, [part]) =>
    begun.flatMap((text) => [`${text}-${part}`, `${text}_${part}`]),
  )
}

/**
 * The cookies of Carillon: the session, and with a hyphen and more the device, sign-ins with a provider and the demonstration. The prefix
 * depends on the public URL. Carillon strips spaces and tabs around a name.
 */
const cookie = '(?:__Host-|__Secure-)?carillon(?:-[^;=]*|[ \\t]*)='

/** nginx removes with each map one cookie, or several side by side. A browser has six: the session, the device, four sign-ins with a provider. */
const maxRemoved = 8

function nginxMaps(): string[] {
  const removals = Array.from({ length: maxRemoved }, (_, index) => {
    const source = index === 0 ? 'http_cookie' : `cookies_${index}`
    return [
      `map $${source} $cookies_${index + 1} {`,
      `    default $${source};`,
      `    "~^(?<before_${index}>[ \\t]*|.*?;[ \\t]*)(?:${cookie}[^;]*(?:;[ \\t]*|$))+(?<after_${index}>.*)$" $before_${index}$after_${index};`,
      '}',
    ]
  })
  return [
    ...removals.flat(),
    `map $cookies_${maxRemoved} $cookie_of_application {`,
    '    default "";',
    `    "~^(?![ \\t]*${cookie}|.*?;[ \\t]*${cookie})" $cookies_${maxRemoved};`,
    '}',
  ]
}

const byName = Object.keys(families).filter((family) => family !== 'X-Forwarded')

type Block = 'fields' | 'cookies'

const lines: Readonly<Record<string, Partial<Record<Block, readonly string[]>>>> = {
  'nginx.conf': {
    cookies: nginxMaps(),
    fields: identityFields
      .filter((name) => !ours.includes(name))
      .map((name) => `        proxy_set_header ${name} "";`),
  },
  Caddyfile: {
    fields: [
      '*_*',
      '*.*',
      ...byName.map((family) => `${family}-*`),
      ...identityFields.filter((name) => name.startsWith('X-Forwarded-')),
    ].map((pattern) => `\t\t\trequest_header -${pattern}`),
    // The empty group: Caddy would take a replacement by nothing for a value to set.
    cookies: [
      `\t\t\t\theader_up Cookie "(?:^|;)[ \\t]*${cookie}[^;]*()" "$1"`,
      '\t\t\t\theader_up Cookie "^;[ \\t]*()" "$1"',
    ],
  },
  'traefik.yml': {
    fields: identityFields.flatMap(spellings).map((name) => `          ${name}: ""`),
  },
}

/** The text with the lines between the marks made again. */
export function withMadeLines(text: string, file: string): string {
  let made = text
  for (const [block, content = []] of Object.entries(lines[file] ?? {})) {
    const begin = new RegExp(
      `(?<=# Begin ${block}: made by tools/generators/identity-fields\\.ts\\n)`,
    )
    const [before, rest] = made.split(begin)
    if (before === undefined || rest === undefined)
      throw new Error(`${file} has no mark for ${block}`)
    made = `${before}${content.join('\n')}\n${rest.slice(rest.search(/^[ \t]*# End/m))}`
  }
  return made
}

if (import.meta.main)
  for (const file of Object.keys(lines)) {
    const path = join('docs/proxies/forward-authentication', file)
    writeFileSync(path, withMadeLines(readFileSync(path, 'utf8'), file))
  }
