// `npm run dev`: `carillon serve` from its sources, on data/dev.db, restarted when a file that it has loaded changes.
import { build, servedFolder } from '../element/build.js'
import '../server/serve.ts'

// `node --watch` follows what was imported until here. It would make the writer thread report its imports in messages, too, which the
// service would take for responses.
delete process.env.WATCH_REPORT_DEPENDENCIES
process.env.CARILLON_DATABASE_URL ??= 'sqlite:data/dev.db'
process.env.CARILLON_LOG ??= 'debug'
// If `node --watch` is killed, this process gets no signal and would keep the port.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
await build(servedFolder)
process.argv.push('serve')
await import('../server/carillon.ts')
