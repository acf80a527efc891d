// Calls every route on a given PostgreSQL database. For a Citus cluster or a PgBouncer, which the tests cannot start. It starts
// `serve` on the database and leaves a user or two, so it requires the word "fill".
//
//   node tools/route-walk.ts postgres://carillon@127.0.0.1:23500/carillon fill
import { carillon } from '../tests/support/processes/carillon-process.ts'
import { Nodes } from '../tests/support/processes/nodes.ts'
import { publicUrl, walkRoutes } from '../tests/support/processes/route-walk.ts'

const [url = '', word] = process.argv.slice(2)
if (!/^postgres(ql)?:/.test(url) || word !== 'fill') {
  process.stderr.write('usage: node tools/route-walk.ts postgres://... fill\n')
  process.exit(2)
}

await using nodes = new Nodes(url, {
  CARILLON_DATABASE_PARTITIONS: '1',
  CARILLON_PUBLIC_URL: publicUrl,
})
const node = await nodes.add()
const added = ['key', 'add', 'walk', '--scope', 'send,users,webhooks', '--json']
const { stdout } = await carillon(nodes.folder, added, { env: nodes.environment })
const { calls, failures } = await walkRoutes(node.url, JSON.parse(stdout).key)
// The removal of old rows runs at the start.
for (const line of node.process.lines.filter(({ event }) => event === 'tidying-failed'))
  failures.push(`old rows could not be removed: ${JSON.stringify(line.err)}`)
if ((await node.process.end('SIGTERM')).status !== 0)
  failures.push('the process did not end with status 0')

process.stdout.write([...failures, `${calls} calls, ${failures.length} failures`, ''].join('\n'))
process.exitCode = failures.length === 0 ? 0 : 1
