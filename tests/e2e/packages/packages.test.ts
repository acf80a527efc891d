// npm installs the packages of `npm run pack` in empty folders as docs/install.md says, under every
// Node in the PATH.
import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { examplesOf, readPages } from '../../support/http/pages.ts'
import { startPackageRegistry } from '../../support/processes/package-registry.ts'
import { isSoak, soakTest } from '../../support/soak.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const place = mkdtempSync(join(tmpdir(), 'carillon-packages-'))
after(() => rmSync(place, { recursive: true, force: true }))

/**
 * npm leaves out the other Node for the folder of this checkout's Node. With SOAK=1 the PATH counts
 * too, once for each version.
 */
function nodes(): { version: string; path: string }[] {
  const own = dirname(process.execPath)
  const folders = (process.env.PATH ?? '').split(delimiter)
  const byVersion = new Map<string, string>()
  for (const folder of [own, ...folders.filter((one) => existsSync(join(one, 'node')))]) {
    const { stdout } = spawnSync(join(folder, 'node'), ['--version'], { encoding: 'utf8' })
    if (!byVersion.has(stdout.trim())) byVersion.set(stdout.trim(), folder)
  }
  const all = [...byVersion].map(([version, folder]) => ({
    version,
    path: [folder, ...folders].join(delimiter),
  }))
  return isSoak ? all : all.slice(0, 1)
}

type Run = { cwd: string; path?: string }

function shell(commands: string, { cwd, path = process.env.PATH ?? '' }: Run): string {
  const npm = {
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  }
  const { status, stdout, stderr } = spawnSync('bash', ['-c', `set -euo pipefail\n${commands}`], {
    cwd,
    env: { ...withoutSettings(), ...npm, PATH: path },
    encoding: 'utf8',
    timeout: 300_000,
  })
  assert.equal(status, 0, `${commands}\n${stdout}${stderr}`)
  return stdout
}

/** Without the settings and the npm of the run that this test is part of. */
function withoutSettings(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(CARILLON_|npm_|NODE_(?!EXTRA_CA_CERTS))/.test(name),
    ),
  )
}

const installing = readPages(root).find(({ file }) => file === 'docs/install.md')
assert.ok(installing)
const examples = examplesOf(installing).map(({ commands }) => commands)
const [packing = '', forClient = '', forService = ''] = [
  /^npm run pack\n$/,
  /carillon-client-\d/,
  /carillon-\d\S+\.tgz\n$/,
].map((form) => examples.find((one) => form.test(one)))

const fromCheckout = (text: string) => text.replaceAll('~/carillon/', root)

suite('the packages of npm run pack', () => {
  test('the command of the page builds them and prints their names', () => {
    const printed = shell(packing, { cwd: root })
    assert.match(
      printed,
      /^dist\/carillon-client-\d\S+\.tgz\ndist\/carillon-inbox-\d\S+\.tgz\ndist\/carillon-\d\S+\.tgz\ndist\/carillon-node-\d\S+\.tgz\n$/m,
    )
  })

  for (const { version, path } of nodes()) {
    test(`under Node ${version}, the service runs in an empty folder, and the client signs in, sends and lists`, async () => {
      const cwd = join(place, version)
      mkdirSync(cwd)
      shell(fromCheckout(forClient), { cwd, path })
      shell(fromCheckout(forService), { cwd, path })
      await using service = await serving(cwd, path)
      writeFileSync(join(cwd, 'app.mjs'), application)
      const printed = shell(`node app.mjs ${service.url}`, { cwd, path })
      assert.equal(printed, `${version}: operator, From the package, Welcome to Carillon\n`)
      for (const script of ['carillon-inbox.js', 'carillon-client.js']) {
        const served = await fetch(`${service.url}/${script}`)
        assert.equal(served.status, 200, script)
        assert.match(served.url, /-[0-9a-f]{8}\.js$/)
      }
      await servesPages(service.url)
      const env = `CARILLON_URL=${service.url} CARILLON_PRODUCER_KEY=${service.key}`
      assert.match(
        shell(`${env} npx carillon send --to operator --title Hi`, { cwd, path }),
        /^Sent to operator$/m,
      )
    })
  }

  for (const { version, path } of nodes())
    soakTest(
      `under Node ${version}, npm install carillon has no warning, also with engine-strict`,
      async () => {
        const cwd = join(place, `registry-${version}`)
        mkdirSync(cwd)
        const registry = await startPackageRegistry(join(root, 'dist'))
        const settings = {
          npm_config_registry: registry.url,
          npm_config_engine_strict: 'true',
          npm_config_fund: 'false',
        }
        const env = { ...withoutSettings(), ...settings, PATH: path }
        const { stdout, stderr } = await promisify(execFile)('npm', ['install', 'carillon'], {
          cwd,
          env,
        })
        registry.stop()
        assert.equal(stderr, '')
        assert.match(stdout, /^\s*added \d+ packages/)
        const isNew = Number(version.slice(1).split('.')[0]) >= 24
        assert.equal(existsSync(join(cwd, 'node_modules/carillon-node')), !isNew)
        const [kib = ''] = shell('du -sk node_modules', { cwd }).split('\t')
        if (isNew) assert.ok(Number(kib) < 60 * 1024, `${kib} KiB`)
        assert.match(shell('npx carillon -V', { cwd, path }), /^\d+\.\d+\.\d+ \([0-9a-f]{12}\)\n$/)
      },
    )

  soakTest(
    'the package of the element compiles in an application and is typed, without a second copy of Lit or the client',
    () => {
      const cwd = join(place, 'element')
      mkdirSync(cwd)
      const files = ['carillon-client', 'carillon-inbox'].map((name) =>
        join(root, 'dist', `${name}-${versionOf(root)}.tgz`),
      )
      shell(`npm install ${files.map((file) => `'${file}'`).join(' ')}`, { cwd })
      writeFileSync(join(cwd, 'package.json'), '{ "type": "module" }')
      writeFileSync(join(cwd, 'right.ts'), page('carillon'))
      writeFileSync(join(cwd, 'wrong.ts'), page('caril'))
      const check = (file: string) =>
        spawnSync(
          process.execPath,
          [join(root, 'node_modules/typescript/bin/tsc'), ...compilerOptions, file],
          {
            cwd,
            encoding: 'utf8',
          },
        )
      assert.equal(check('right.ts').stdout, '')
      assert.match(
        check('wrong.ts').stdout,
        /Property 'caril' does not exist on type 'CarillonBell'/,
      )
      const installed = shell(
        "find node_modules -name '*.ts' -not -name '*.d.ts' -path '*carillon*'; find node_modules -name package.json | grep -c '/lit/package.json$'",
        { cwd },
      )
      assert.equal(installed, '1\n')
    },
  )

  test('the package of the service has JavaScript only, one manifest with pinned packages, and a licence', () => {
    const tarball = join(root, 'dist', `carillon-${versionOf(root)}.tgz`)
    const files = shell(`tar -tzf '${tarball}'`, { cwd: place }).trim().split('\n')
    const names = [
      'package.json',
      'LICENSE',
      'README.md',
      'bin/launch.js',
      'bundle/writer.js',
      'public/manifest.json',
      'bundle/manifest.json',
      'bundle/LICENSES.txt',
    ]
    for (const file of names) assert.ok(files.includes(`package/${file}`), file)
    assert.deepEqual(
      files.filter((file) => /(?<!\.d)\.ts$|\.(test|contract)\.|\/(contract|testing)\//.test(file)),
      [],
    )
    const served: Record<string, string[]> = JSON.parse(
      shell(`tar -xzOf '${tarball}' package/public/manifest.json`, { cwd: place }),
    )
    const named = new Set(Object.values(served).flat())
    const scripts = files.flatMap(
      (file) => /^package\/public\/(.*\.(?:js|css|svg))$/.exec(file)?.[1] ?? [],
    )
    assert.deepEqual(
      scripts.sort(),
      [...named].sort(),
      'what the manifest names, and nothing of an earlier build',
    )
    const manifest = JSON.parse(
      shell(`tar -xzOf '${tarball}' package/package.json`, { cwd: place }),
    )
    for (const version of Object.values({
      ...manifest.dependencies,
      ...manifest.optionalDependencies,
    }))
      assert.match(String(version), /^\d+\.\d+\.\d+$/)
    assert.equal(
      manifest.engines.node,
      JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines.node,
    )
  })

  test('npm pack in a folder of the source is refused, because Node runs no TypeScript below node_modules', () => {
    const scripts = ['client', 'element', 'server'].map(
      (folder) => manifestOf(join(root, folder)).scripts.prepack,
    )
    assert.equal(new Set(scripts).size, 1)
    for (const workspace of isSoak ? ['client', 'element', 'server'] : ['server']) {
      const { status, stderr } = spawnSync('npm', ['pack', '--dry-run', '--workspace', workspace], {
        cwd: root,
        encoding: 'utf8',
      })
      assert.notEqual(status, 0)
      assert.match(stderr, /npm run pack, in the root folder, builds the packages/)
    }
  })
})

/** Checks each page in each language with all of its files, and the demonstration with a world. */
async function servesPages(url: string): Promise<void> {
  for (const language of ['en', 'de', 'fr'])
    for (const path of ['/', '/sign-in', '/forgot', '/reset', '/demonstration']) {
      const page = await fetch(url + path, {
        headers: { accept: 'text/html', 'accept-language': language },
      })
      const text = await page.text()
      assert.deepEqual([page.status, /<html lang="(\w+)"/.exec(text)?.[1]], [200, language], path)
      const files = [...text.matchAll(/carillon-scripts\/[\w.-]+/g)].map(([file]) => file)
      assert.ok(files.length > 2, path)
      for (const file of files) assert.equal((await fetch(`${url}/${file}`)).status, 200, file)
    }
  const { status, headers } = await fetch(`${url}/demonstration/visits`, { method: 'POST' })
  assert.equal(status, 201)
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
  const restricted = await fetch(`${url}/demonstration/service/routeRestreinte`, {
    headers: { cookie },
  })
  assert.deepEqual([restricted.status, restricted.headers.get('carillon-exchange')], [401, '1'])
}

/** A page in TypeScript that uses a property of the bell. */
const page = (property: string) => `
  import 'carillon-inbox'
  import { createCarillon } from 'carillon-client'
  const bell = document.createElement('carillon-bell')
  bell.${property} = createCarillon({ baseUrl: 'https://bell.example' })
  bell.addEventListener('carillon-open', (event) => console.log(event.detail.title satisfies string))
  document.body.append(bell)
`
const compilerOptions =
  '--noEmit --strict --module nodenext --target es2022 --lib es2023,dom --types  --ignoreConfig'.split(
    ' ',
  )

/** Signs in with a session's cookie, sends, lists, and prints what it found. */
const application = `
  import { readFileSync } from 'node:fs'
  import { createCarillon, createProducer } from 'carillon-client'
  const baseUrl = process.argv[2]
  const text = readFileSync('data/first-sign-in.txt', 'utf8')
  const field = (name) => new RegExp('^' + name + ': (.+)$', 'm').exec(text)[1]
  const username = field('username')
  const carillon = createCarillon({
    baseUrl,
    auth: async () => (await carillon.login({ username, password: field('password'), variant: 'stateless' })).token,
  })
  await createProducer({ baseUrl, key: field('key') }).send({ recipients: [{ username }], title: 'From the package' })
  const { items } = await carillon.inbox.list()
  console.log(process.version + ': ' + [username, ...items.map(({ title }) => title)].join(', '))
`

function manifestOf(folder: string) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function versionOf(folder: string): string {
  return manifestOf(folder).version
}

/** `npx carillon serve` on a free port. */
async function serving(cwd: string, path: string) {
  const child = spawn('npx', ['carillon', 'serve'], {
    cwd,
    env: { ...withoutSettings(), PATH: path, CARILLON_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
    // In a process group, so that npx and everything below it can be ended.
    detached: true,
  })
  let url = ''
  for await (const line of createInterface({ input: child.stdout })) {
    const entry = JSON.parse(line)
    url = entry.event === 'started' ? entry.url : url
    if (url !== '') break
  }
  child.stdout.resume()
  assert.notEqual(url, '', 'the service did not start')
  const text = readFileSync(join(cwd, 'data', 'first-sign-in.txt'), 'utf8')
  return {
    url,
    key: /^key: (.+)$/m.exec(text)?.[1] ?? '',
    async [Symbol.asyncDispose]() {
      process.kill(-(child.pid ?? 0), 'SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}
