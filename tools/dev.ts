// `npm run dev`: the service on data/dev.db, restarted when a file changes, with a user whose password is known and a new
// notification every few seconds. Only for development: this file contains the password. A change in element/ or client/ builds the
// scripts of pages again.

import { watch } from 'node:fs'
import { build, servedFolder } from '../element/build.js'
import { readConfig } from '../server/config/read.ts'
import { CarillonError } from '../server/errors.ts'
import { createLog } from '../server/log/log.ts'
import { startService } from '../server/serve.ts'
import { Passwords } from '../server/sign-in/password/passwords.ts'
import { ProducerKeys } from '../server/sign-in/producer-key.ts'
import { addUser } from '../server/sign-in/users/users.ts'

const credentials = { username: 'dev', password: 'green lamp over seven hills' }
const everyMs = 5_000

const config = readConfig({
  CARILLON_DATABASE_URL: 'sqlite:data/dev.db',
  CARILLON_FIRST_START: 'off',
  CARILLON_LOG: 'debug',
  ...process.env,
})
// `node --watch` makes the writer thread report its imports in messages, which the service would take for responses.
delete process.env.WATCH_REPORT_DEPENDENCIES
const log = await createLog({ level: config.logLevel, isTerminal: process.stdout.isTTY === true })
await build(servedFolder)
let service = await startService(config, { log })
const { store, url } = service

await addUser(
  { store, passwords: new Passwords({ threads: 4 }), passwordMinLength: config.passwordMin, now: Date.now },
  credentials,
).catch((error: unknown) => {
  if (!(error instanceof CarillonError && error.code === 'CONFLICT')) throw error
})
const { key } = await new ProducerKeys({ store, now: Date.now }).issue({
  name: 'dev',
  scopes: ['send'],
  expiresAt: null,
})
log.info({ url, user: credentials.username, signInWith: credentials.password }, 'sign in with this')

let change: NodeJS.Timeout | undefined
for (const folder of ['element', 'client'])
  watch(new URL(`../${folder}`, import.meta.url), { recursive: true }, () => {
    clearTimeout(change)
    // An editor may write a file in several steps.
    change = setTimeout(() => void rebuild(), 200)
  })

let count = 0
setInterval(() => void send(), everyMs)
process.once('SIGTERM', stop)
// If `node --watch` is killed, this process gets no signal and would keep the port.
process.once('disconnect', stop)

let isStopping = false
function stop(): void {
  if (isStopping) return
  isStopping = true
  void service.stop().then(() => process.exit())
}

async function rebuild(): Promise<void> {
  try {
    await build(servedFolder)
    await service.stop()
    service = await startService(config, { log })
  } catch (error) {
    log.error({ err: error }, 'the scripts of pages are not built')
  }
}

async function send(): Promise<void> {
  const body = JSON.stringify({ recipients: [{ username: credentials.username }], title: `Notification ${++count}` })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  // No response while the service restarts.
  const response = await fetch(`${url}/api/notifications`, { method: 'POST', headers, body }).catch(() => undefined)
  log.debug({ status: response?.status, count }, 'notification sent')
}
