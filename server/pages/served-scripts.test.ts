import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { servedFolder } from '../../element/build.js'
import { ServedScripts } from './served-scripts.ts'

test('without a build every script is UNAVAILABLE with the command that builds it, and works as soon as it is built', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-scripts-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const scripts = new ServedScripts(pathToFileURL(`${folder}/`))
  for (const use of [() => scripts.hashed('carillon-inbox.js'), () => scripts.file('any.js')])
    assert.throws(use, { code: 'UNAVAILABLE', message: /npm run build$/ })
  cpSync(servedFolder, folder, { recursive: true })
  const name = scripts.hashed('carillon-client.js')
  assert.match(String(scripts.file(name).at(-1)?.bytes), /export/)
})
