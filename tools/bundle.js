// Bundles the service into server/bundle, so that a start loads a few files in place of 550 (decision 0056). `npm ci` and `npm run build`
// call it, and `npm run pack` for the package. server/bin/run.js runs the bundle while it is the same as the sources. Plain JavaScript,
// so that any version of Node that can install Carillon can run it.
import { hash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))
const server = join(root, 'server')
/** Where server/bin/run.js looks for it; git ignores it. */
const bundleFolder = join(server, 'bundle')

/** With all that they import: one file. A bundle of 30 had V8 optimize the loops of Node's module loader, 5 MB and 10 ms. */
const startOfService =
  /[\\/]server[\\/](commands[\\/]service[\\/]serve|store[\\/]sqlite[\\/]store)\.ts$/
/**
 * What each start loads, and the bundler's own helpers. In a checkout every other package is loaded on demand, and stays where npm installed
 * it. A package has them all, so that npm checks no `engines` of others; only native code stays outside.
 */
const inlined = /^(commander|fastify|ipaddr\.js|jose|pg|pino|@oxc-project\/runtime)($|\/)/
const native = /^@node-rs\//
/** Inside the scripts that the service serves (element/build.js). */
const ofScripts = ['lit', 'uplot'].map((name) => join(root, 'node_modules', name, 'package.json'))
/** Fastify's defaults that the service replaces (bodies.ts), and what pg looks for and need not find. */
const unused = /^(@fastify\/(ajv|fast-json-stringify)-compiler|pg-native|pg-cloudflare)$/
/** npm writes it after each change of the installed packages, which the bundle contains. */
const installed = join(root, 'node_modules', '.package-lock.json')

/** Writes the bundle and, last, its manifest: the files that it was made of. @param {string} folder */
export async function bundle(folder = bundleFolder) {
  const made = await bundled(folder, (id) => inlined.test(id))
  const own = new Set(made.filter((id) => id.startsWith(root) && !isOfPackage(id)))
  const entries = [...own, installed].map((file) => [
    relative(bundleFolder, file).replaceAll(sep, '/'),
    stampOf(file),
  ])
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(Object.fromEntries(entries)))
}

/** The bundle of a package. It has no sources beside it that could differ, so its manifest names none. @param {string} folder */
export async function bundleAll(folder) {
  const compiler = join(root, 'node_modules', '@fastify', 'ajv-compiler', 'index.js')
  await bundled(folder, (id) => !native.test(id), { 'ajv-compiler': compiler })
  writeFileSync(join(folder, 'manifest.json'), '{}')
}

/**
 * Returns the paths of the modules. `required`: what the validation of requests requires, as CommonJS.
 * @param {string} folder @param {(id: string) => boolean} isInside @param {Record<string, string>} required
 */
async function bundled(folder, isInside, required = {}) {
  rmSync(folder, { recursive: true, force: true })
  const main = {
    carillon: join(server, 'carillon.ts'),
    demonstration: join(root, 'demonstration/server/main.ts'),
  }
  const made = [
    ...(await write(required, folder, isInside, 'cjs')),
    ...(await write(main, folder, isInside)),
    ...(await write({ writer: join(server, 'writer.ts') }, folder, isInside)),
  ]
  writeFileSync(join(folder, 'LICENSES.txt'), licences([...made.filter(isOfPackage), ...ofScripts]))
  return made
}

/** Seen from the root folder, which may itself lie below one of that name. @param {string} id */
function isOfPackage(id) {
  return /(^|[\\/])node_modules[\\/]/.test(relative(root, id))
}

/** The licences of the packages in the bundle, which ask to be with every copy. @param {string[]} modules */
function licences(modules) {
  const folders = new Set(
    modules.flatMap(
      (id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0] ?? [],
    ),
  )
  return [...folders].sort().flatMap(licence).join('\n')
}

/** @param {string} folder */
function licence(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = readdirSync(folder).filter((file) => /^licen[cs]e/i.test(file))
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'))
  return [`${name} ${version} (${license})\n\n${texts.join('\n')}\n`]
}

/** The time of the last change of the file, and its content. @param {string} file */
function stampOf(file) {
  return {
    changedAt: statSync(file).ctimeMs,
    content: hash('sha256', readFileSync(file), 'base64'),
  }
}

/**
 * @param {Record<string, string>} input @param {string} folder @param {(id: string) => boolean} isInside
 * @param {'esm' | 'cjs'} format
 */
async function write(input, folder, isInside, format = 'esm') {
  if (Object.keys(input).length === 0) return []
  const build = await rolldown({
    input,
    platform: 'node',
    cwd: root,
    logLevel: 'silent',
    external: (id, importer) => isExternal(id, importer, isInside),
    plugins: [
      ...(isInside('@fastify/ajv-compiler') ? [compilerInside] : []),
      originalPlaces,
      builtinsOnDemand,
    ],
  })
  try {
    const { output } = await build.write({
      dir: folder,
      format,
      comments: false,
      entryFileNames: format === 'esm' ? '[name].js' : '[name].cjs',
      codeSplitting: { groups: [{ name: 'service', test: startOfService }] },
    })
    for (const file of output)
      if (file.type === 'chunk') writeFileSync(join(folder, file.fileName), inAscii(file.code))
    return output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
  } finally {
    await build.close()
  }
}

/**
 * V8 keeps the source, with two bytes for each character if one of them is not in Latin-1: 1.5 MB. The escape means the same wherever
 * JavaScript has strings, templates and regular expressions, except in `String.raw`. @param {string} code
 */
function inAscii(code) {
  return code.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** @param {string} id @param {string | undefined} importer @param {(id: string) => boolean} isInside */
function isExternal(id, importer, isInside) {
  if (id.startsWith('node:') || unused.test(id)) return true
  if (importer === undefined || isOfPackage(importer) || /^[./]/.test(id)) return false
  return !isInside(id)
}

/** In a package there is no Fastify to look beside. */
const compilerInside = {
  name: 'compiler-inside',
  /** @param {string} code @param {string} id */
  transform(code, id) {
    if (!id.startsWith(server) || !code.includes("resolve('fastify')")) return
    return code
      .replace(
        "createRequire(createRequire(import.meta.url).resolve('fastify'))",
        "createRequire(import.meta.dirname + '/')",
      )
      .replace("'@fastify/ajv-compiler'", "'./ajv-compiler.cjs'")
  },
}

/** A module finds its SQL, style sheets and so on beside its source; the writer thread and the demonstration are bundles of their own. */
const originalPlaces = {
  name: 'original-places',
  /** @param {string} code @param {string} id */
  transform(code, id) {
    if (!id.startsWith(server) || !code.includes('import.meta.url')) return
    const source = relative(bundleFolder, id).replaceAll(sep, '/')
    const [, entry, name] =
      /new URL\('([./]*\/(writer|demonstration)[^']*)', import\.meta\.url\)/.exec(code) ?? []
    return code
      .split(`new URL('${entry}', import.meta.url)`)
      .map((part) =>
        part.replaceAll('import.meta.url', `new URL('${source}', import.meta.url).href`),
      )
      .join(`new URL('./${name}.js', import.meta.url)`)
  },
}

/**
 * An `import` of a built-in module reads each of its exports, and some load further modules: Node's fetch, streams of files, standard
 * output (30 ms in all). Fastify loads HTTP/2 and TLS for options that the service does not use (25 ms, 10 MB).
 */
const builtinsOnDemand = {
  name: 'builtins-on-demand',
  /** @param {string} code @param {string} id */
  transform(code, id) {
    if (!id.replaceAll(sep, '/').endsWith('/fastify/lib/server.js')) return
    return code.replaceAll(
      /require\('(node:(?:http2|https))'\)/g,
      "new Proxy({}, { get: (_, name) => process.getBuiltinModule('$1')[name] })",
    )
  },
  /** @param {string} code */
  renderChunk(code) {
    return code.replaceAll(
      /^import (?:([\w$]+)(?:, )?)?(?:\* as ([\w$]+)|(\{[^}]*\}))? from "(node:[^"]+)";$/gm,
      declared,
    )
  },
}

/** @param {string} _ @param {string} whole @param {string} namespace @param {string} names @param {string} builtin */
function declared(_, whole, namespace, names, builtin) {
  const targets = [whole, namespace, names?.replaceAll(' as ', ': ')].filter(
    (target) => target !== undefined,
  )
  return `const ${targets.map((target) => `${target} = process.getBuiltinModule("${builtin}")`).join(', ')};`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle()
