// The files for forward authentication drop each field of the table in each spelling, and both cookies (F5).
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { identityFields, spellings, withFields } from './identity-fields.ts'

const read = (file: string) => readFileSync(`docs/proxies/forward-authentication/${file}`, 'utf8')

test('the files have the lines that the table makes (F5)', () => {
  for (const file of ['nginx.conf', 'Caddyfile', 'traefik.yml'])
    assert.equal(withFields(read(file), file), read(file), file)
})

test('nginx, Caddy and Traefik drop each field in each spelling, or replace it by that of Carillon (F5)', () => {
  const [nginx, caddy, traefik] = [read('nginx.conf'), read('Caddyfile'), read('traefik.yml')]
  assert.match(nginx, /underscores_in_headers off;/)
  const prefixes = Array.from(caddy.matchAll(/request_header -(\S+)\*$/gm), ([, prefix = '']) => prefix)
  for (const name of identityFields) {
    assert.match(nginx, new RegExp(`proxy_set_header ${name} (?:""|\\$\\w+);`))
    for (const one of spellings(name)) {
      assert.ok(prefixes.some((prefix) => one.startsWith(prefix)) || caddy.includes(`request_header -${one}\n`), one)
      assert.ok(traefik.includes(` ${one}: ""\n`), one)
    }
  }
})
