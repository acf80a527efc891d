// Builds the wheel of the client for Python: generated from the API's description, without the pages for browsers (docs/python.md).
import { cpSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openApi } from '../../server/http/openapi/openapi.ts'
import { apiOf, routesWith } from '../../server/routes.ts'
import { run } from '../run.ts'

/** `carillon` is the package of others on PyPI. */
const name = 'carillon-inbox-client'
const moduleName = name.replaceAll('-', '_')

/** Returns the path of the file. */
export function buildWheel(dist: string, version: string): string {
  const staging = mkdtempSync(join(tmpdir(), 'carillon-wheel-'))
  try {
    const at = (path: string) => join(staging, path)
    const url = 'http://127.0.0.1:7464'
    const description = openApi(apiOf(routesWith('')), { version, url, cookieName: 'carillon' })
    writeFileSync(at('openapi.json'), JSON.stringify(description))
    writeFileSync(
      at('config.yaml'),
      `project_name_override: ${name}\npackage_name_override: ${moduleName}\n`,
    )
    run('python3', ['-m', 'venv', at('venv')])
    const pinned = [
      '--require-hashes',
      '--only-binary',
      ':all:',
      '--requirement',
      'tools/python/wheel.txt',
    ]
    run(at('venv/bin/pip'), ['install', '--quiet', ...pinned])
    const env = { ...process.env, PATH: `${at('venv/bin')}:${process.env.PATH}` }
    const files = [
      '--path',
      at('openapi.json'),
      '--config',
      at('config.yaml'),
      '--output-path',
      at('package'),
    ]
    run(at('venv/bin/openapi-python-client'), ['generate', '--meta', 'pdm', ...files], env)
    cpSync('docs/python.md', at('package/README.md'))
    cpSync('LICENSE', at('package/LICENSE'))
    run(
      at('venv/bin/python'),
      ['-m', 'build', '--wheel', '--no-isolation', '--outdir', dist, at('package')],
      env,
    )
    return globSync(join(dist, `${moduleName}-${version}-*.whl`))[0] ?? ''
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}
