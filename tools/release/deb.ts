// Builds a package for Debian from the files of `npm run pack`: with the Node that runs it, so that it needs no other package. The data in
// /var/lib/carillon is no part of it.
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { run } from '../run.ts'

/** Only where systemd runs, and not in the root of an image that is made. */
const onSystemd = (commands: string) =>
  `#!/bin/sh\nset -e\nif [ -d /run/systemd/system ] && [ -z "$DPKG_ROOT" ]; then\n${commands}fi\n`
/** Beside the program it would be left by a removal. */
const cache = '[ -n "$NODE_COMPILE_CACHE" ] || export NODE_COMPILE_CACHE="$HOME/.cache/carillon"'
const scripts: Readonly<Record<string, string>> = {
  postinst: onSystemd('  systemctl daemon-reload\n  systemctl try-restart carillon.service\n'),
  // An upgrade restarts the service afterwards.
  prerm: onSystemd('  [ "$1" = upgrade ] || systemctl disable --now carillon.service\n'),
}

/** For the architecture of this machine, whose packages npm installs. Returns the path of the file. */
export function buildDeb(dist: string, version: string): string {
  const staging = mkdtempSync(join(tmpdir(), 'carillon-deb-'))
  try {
    const architecture = process.arch === 'x64' ? 'amd64' : process.arch
    const program = join(staging, 'usr/lib/carillon')
    const files = ['carillon', 'carillon-node'].map((name) =>
      resolve(dist, `${name}-${version}.tgz`),
    )
    run('npm', ['install', '--prefix', program, ...files, '--omit=dev', '--engine-strict=false'])
    for (const name of ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'])
      rmSync(join(program, name))
    leaveProgram(join(program, `node_modules/node-linux-${process.arch}`))
    const node = `/usr/lib/carillon/node_modules/node-linux-${process.arch}/bin/node`
    const launcher = '/usr/lib/carillon/node_modules/carillon/bin/launch.js'
    write(
      join(staging, 'usr/bin'),
      'carillon',
      `#!/bin/sh\n${cache}\nexec ${node} ${launcher} "$@"\n`,
      0o755,
    )
    const units = join(staging, 'usr/lib/systemd/system')
    const unit = ['install-service', '--print', '--program', '/usr/bin/carillon']
    // Without the settings of who builds it, and without a cache of compiled code.
    const env = { NODE_COMPILE_CACHE: join(tmpdir(), 'carillon-compile-cache') }
    write(units, 'carillon.service', run(process.execPath, [join(staging, launcher), ...unit], env))
    const licences = join(program, 'node_modules/carillon/bundle/LICENSES.txt')
    cpSync(licences, join(staging, 'usr/share/doc/carillon/copyright'))
    write(join(staging, 'DEBIAN'), 'control', control(version, architecture))
    for (const [name, text] of Object.entries(scripts))
      write(join(staging, 'DEBIAN'), name, text, 0o755)
    const file = join(dist, `carillon_${version}_${architecture}.deb`)
    chmodSync(staging, 0o755)
    run('dpkg-deb', ['--root-owner-group', '-Zgzip', '--build', staging, file])
    return file
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** Headers, manuals and symbols are nearly half of Node, and nothing here reads them. */
function leaveProgram(node: string): void {
  for (const name of ['include', 'share']) rmSync(join(node, name), { recursive: true })
  run('strip', [join(node, 'bin/node')])
}

function control(version: string, architecture: string): string {
  const { description } = JSON.parse(readFileSync('package.json', 'utf8'))
  return `Package: carillon
Version: ${version}
Architecture: ${architecture}
Maintainer: The maintainers of Carillon
Depends: libc6 (>= 2.28), libstdc++6
Section: net
Priority: optional
Description: ${description}
`
}

function write(folder: string, name: string, text: string, mode = 0o644): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), text, { mode })
}
