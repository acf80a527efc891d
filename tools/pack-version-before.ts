// Packs the service of an earlier commit for tests/e2e/nodes/rolling-upgrade.test.ts. Run it after each release, with the
// commit of that release: node tools/pack-version-before.ts <commit>
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { brotliCompressSync, constants } from 'node:zlib'
import { versionBefore } from '../tests/support/processes/version-before.ts'

/** What a node on PostgreSQL never loads. */
const unused = /\.test\.ts$|\/(testing|contract|sqlite|doctor|portable|transfer)\//

const [commit = ''] = process.argv.slice(2)
const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' })
const names = git('ls-tree', '-r', '--name-only', commit, 'server', 'package.json').trim().split('\n')
const files = names.filter((name) => !unused.test(name)).map((name) => [name, git('show', `${commit}:${name}`)])
const text = JSON.stringify({ commit: git('rev-parse', commit).trim(), files: Object.fromEntries(files) })
const packed = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } })
writeFileSync(versionBefore, packed)
console.log(`${files.length} files, ${packed.length} bytes`)
