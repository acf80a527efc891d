// The files for forward authentication drop each field of the table in each spelling, and every cookie of Carillon (F5). What the lines say is
// evaluated here; tests/e2e/pages/forward-authentication.soak.test.ts runs the files on nginx, Caddy and Traefik.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readConfig } from '../../server/config/read.ts'
import { flowCookie } from '../../server/factors/challenges.ts'
import { siteOf } from '../../server/start/site.ts'
import { identityFields, spellings, withMadeLines } from './identity-fields.ts'

const read = (file: string) => readFileSync(`docs/proxies/forward-authentication/${file}`, 'utf8')
const nginx = read('nginx.conf')
const caddy = read('Caddyfile')
const traefik = read('traefik.yml')

test('the files have the lines that the table makes (F5)', () => {
  for (const file of ['nginx.conf', 'Caddyfile', 'traefik.yml'])
    assert.equal(withMadeLines(read(file), file), read(file), file)
})

/** In a line `request_header -PATTERN` of Caddy, `*` at the begin or end stands for any text. */
function isDroppedByCaddy(field: string): boolean {
  const patterns = Array.from(caddy.matchAll(/request_header -(\S+)$/gm), ([, pattern = '']) =>
    pattern.toLowerCase(),
  )
  const name = field.toLowerCase()
  return patterns.some((pattern) => {
    const text = pattern.replaceAll('*', '')
    if (pattern.startsWith('*') && pattern.endsWith('*')) return name.includes(text)
    return pattern.endsWith('*') ? name.startsWith(text) : name === text
  })
}

test('nginx, Caddy and Traefik drop each field in each spelling, or replace it by that of Carillon (F5)', () => {
  assert.match(nginx, /underscores_in_headers off;/)
  for (const known of ['X-WEBAUTH-USER', 'X-Remote-Group', 'X-Forwarded-Username'])
    assert.ok(identityFields.includes(known), known)
  for (const name of identityFields) {
    assert.match(nginx, new RegExp(`proxy_set_header ${name} (?:""|\\$\\w+);`))
    for (const one of spellings(name)) {
      assert.ok(isDroppedByCaddy(one), one)
      assert.ok(traefik.includes(` ${one}: ""\n`), one)
    }
  }
  for (const needed of ['Cookie', 'Accept', 'X-Forwarded-For', 'X-Forwarded-Proto'])
    assert.ok(!isDroppedByCaddy(needed), needed)
})

test('a client chooses nothing in `Connection` that Caddy or Traefik would drop after the check (F5)', () => {
  assert.ok(caddy.indexOf('request_header @no_upgrade -Connection') < caddy.indexOf('forward_auth'))
  assert.ok(
    caddy.indexOf('request_header @upgrade Connection Upgrade') < caddy.indexOf('forward_auth'),
  )
  assert.match(
    traefik,
    /only-ours:\s+headers:\s+customRequestHeaders:\s+#.*\n\s+Connection: Upgrade\n/,
  )
  assert.match(traefik, /middlewares: \[only-ours, signed-in, no-cookies\]/)
  assert.match(nginx, /proxy_set_header Connection \$connection_of_application;/)
})

/** nginx evaluates $cookie_of_application by these maps, one after the other. */
function cookieBehindNginx(cookie: string): string {
  const variables: Record<string, string> = { http_cookie: cookie }
  const evaluated = (text: string, groups: Record<string, string> = {}) =>
    text === '""'
      ? ''
      : text.replaceAll(/\$(\w+)/g, (_, name) => groups[name] ?? variables[name] ?? '')
  const maps = nginx.matchAll(
    /^map \$(\w*cookie\w*) \$(\w+) \{\n {4}default (\S+);\n {4}"~(.*)" (\S+);\n\}/gm,
  )
  for (const [, source = '', name = '', otherwise = '', pattern = '', found = ''] of maps) {
    const match = new RegExp(pattern).exec(variables[source] ?? '')
    variables[name] = match === null ? evaluated(otherwise) : evaluated(found, match.groups)
  }
  const [, sent = ''] =
    /proxy_set_header Cookie \$(\w+);\n {8}proxy_set_header Upgrade/.exec(nginx) ?? []
  return variables[sent] as string
}

function cookieBehindCaddy(cookie: string): string {
  const replacements = caddy.matchAll(/header_up Cookie "(.*)" "(.*)"$/gm)
  return Array.from(replacements).reduce(
    (text, [, pattern = '', by = '']) => text.replaceAll(new RegExp(pattern, 'g'), by),
    cookie,
  )
}

/** The settings of the service make the names of its cookies. */
const ours = [
  'http://localhost',
  'https://home.example.org',
  'https://home.example.org/bell',
].flatMap((publicUrl) => {
  const config = readConfig({ CARILLON_PUBLIC_URL: publicUrl })
  const site = siteOf(config, () => publicUrl)
  return [site.cookie.name, site.deviceCookie.name, flowCookie(site, 'Ab-_1234').name]
})

test('the application gets no cookie of Carillon, however many a sibling host plants beside it, and its own (F5)', () => {
  assert.ok(
    ours.includes('__Host-carillon') && ours.includes('__Secure-carillon-with-Ab-_1234'),
    String(ours),
  )
  const pairs = (text: string) => text.split(/;\s*/).filter((pair) => pair !== '')
  const own = ['a=1', 'notcarillon=2', 'carillonade=3', 'b=carillon=4', 'carillon']
  const cases = ours.flatMap((name) =>
    ours.flatMap((other) => [
      [`${name}=s`],
      [`${name}=s`, `${other}=planted`, `${name}=planted`],
      [`${other}=planted`, ...own, `${name}=s`, `${name}=t`],
      [
        `${other}=planted`,
        'a=1',
        `${name}=s`,
        'b=2',
        `${other}=planted`,
        `${other}=`,
        'c=3',
        `${name} \t=t`,
      ],
    ]),
  )
  for (const field of cases) {
    const kept = field.filter((pair) => !/^(__(Host|Secure)-)?carillon[- =]/.test(pair))
    for (const sent of ['; ', ';', ';\t '].map((separator) => field.join(separator)))
      for (const behind of [cookieBehindNginx, cookieBehindCaddy])
        assert.deepEqual(pairs(behind(sent)), kept, `${behind.name}: ${sent}`)
  }
  const many = Array.from({ length: 30 }, (_, n) => `carillon-${n}=x; a${n}=1`).join('; ')
  const none = cookieBehindNginx(`${many}; __Host-carillon=s`)
  assert.equal(none, '')
  assert.ok(!cookieBehindCaddy(`${many}; __Host-carillon=s`).includes('carillon'))
  assert.equal(cookieBehindNginx(''), '')
})
