// Loads a server that already runs, in any language, and prints what `npm run bench` prints of its own: responses per second, latency,
// processor time of a request and memory. README.md shows it with servers in Go and Rust.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { asLoad } from '../floors/compare.ts'
import { type Loaded, Loader } from '../load/loader.ts'
import { requestText } from '../load/requests.ts'
import { processorUsOf, residentMegabytes } from '../processes/of-process.ts'

const help = `node bench/peers/other.ts --pid PID --port PORT --requests FILE [--status N] [--connections N] [--seconds S] [--rounds N]

Sends the requests of FILE to 127.0.0.1:PORT in turn, and prints responses per second, the processor time of process PID and its
children, and their resident memory.

  --requests FILE    a JSON array; each entry has method, path and, if needed, headers and body (an object)
  --status N         the expected status; 200
  --connections N    with one request at a time each; 64
  --seconds S        for each round; 2
  --rounds N         5

Example:

  node bench/peers/other.ts --pid 4711 --port 8090 --requests lists.json
`

type Request = { method: string; path: string; headers?: Record<string, string>; body?: object }

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    pid: { type: 'string' },
    port: { type: 'string' },
    requests: { type: 'string' },
    status: { type: 'string', default: '200' },
    connections: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
  },
})
const [pid, port] = [Number(values.pid), Number(values.port)]
if (values.help) process.stdout.write(help)
else if (!(pid > 0) || !(port > 0) || values.requests === undefined) {
  process.stderr.write(`--pid, --port and --requests are needed\n\n${help}`)
  process.exitCode = 2
} else await load(values.requests)
process.exit()

async function load(file: string): Promise<void> {
  const requests = (JSON.parse(readFileSync(file, 'utf8')) as Request[]).map(asText)
  const server = { request: async () => ({ processorUs: processorUsOf(pid), at: performance.now() }) as never }
  const loader = new Loader('anywhere')
  const samples: Loaded[] = []
  for (let round = 1; round <= Number(values.rounds); round++) {
    process.stderr.write(`  round ${round} of ${values.rounds}\n`)
    const seconds = Number(values.seconds)
    const plan = { port, connections: Number(values.connections), requests, status: Number(values.status) }
    samples.push(await loader.measure(server, { ...plan, seconds, warmUpSeconds: seconds / 2 }))
  }
  await loader.stop()
  console.log(`${asLoad(samples)}; resident ${residentMegabytes(pid).toFixed(0)} MB`)
}

function asText({ method, path, headers = {}, body }: Request): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return requestText(method, path, {
    ...(lines.length > 0 && { proof: lines.join('\r\n') }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}
