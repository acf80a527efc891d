// Builds the wheel of the client for Python: generated from the API's description, without the pages for browsers (docs/python.md).
import { cpSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openApi } from '../../server/http/openapi/openapi.ts'
import { apiOf, routesWith } from '../../server/routes.ts'
import { run } from '../run.ts'

const tools = ['openapi-python-client==0.29.1', 'ruff==0.17.6', 'build==1.6.1']

/** Returns the path of the file. */
export function buildWheel(dist: string, version: string): string {
  const staging = mkdtempSync(join(tmpdir(), 'carillon-wheel-'))
  try {
    const at = (name: string) => join(staging, name)
    const url = 'http://127.0.0.1:7464'
    const description = openApi(apiOf(routesWith('')), { version, url, cookieName: 'carillon' })
    writeFileSync(at('openapi.json'), JSON.stringify(description))
    writeFileSync(at('config.yaml'), 'project_name_override: carillon\npackage_name_override: carillon\n')
    run('python3', ['-m', 'venv', at('venv')])
    run(at('venv/bin/pip'), ['install', '--quiet', ...tools])
    const env = { ...process.env, PATH: `${at('venv/bin')}:${process.env.PATH}` }
    const files = ['--path', at('openapi.json'), '--config', at('config.yaml'), '--output-path', at('carillon')]
    run(at('venv/bin/openapi-python-client'), ['generate', '--meta', 'pdm', ...files], env)
    cpSync('docs/python.md', at('carillon/README.md'))
    cpSync('LICENSE', at('carillon/LICENSE'))
    run(at('venv/bin/python'), ['-m', 'build', '--wheel', '--outdir', dist, at('carillon')], env)
    return globSync(join(dist, `carillon-${version}-*.whl`))[0] ?? ''
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}
