#!/usr/bin/env node
// Runs Carillon with this Node, or a newer one that npm installed. Plain JavaScript for Node 18.

const minMajor = 24

// Without a listener, SIGUSR1 opens Node's inspector to all local users.
process.on('SIGUSR1', () => {})

// npm (11.19) ends a command's shell, not the command. One left on purpose (`&`) is not watched.
const parent = process.ppid
const script = process.env.npm_lifecycle_script ?? ''
if (parent !== 1 && /\bcarillon\b/.test(script) && !/[&;|]/.test(script)) {
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 500).unref()
}

const newerNode = async () => (await import('./platform-node.js')).platformNode()

if (
  isSuitable() ||
  (Number.parseInt(process.versions.node, 10) >= minMajor && !(await newerNode()))
) {
  const { run } = await import('./run.js')
  await run()
} else await relay()

/** Before SQLite 3.51.3 the write-ahead log could rarely damage a database. */
function isSuitable() {
  const [major = 0, minor = 0, patch = 0] = (process.versions.sqlite ?? '').split('.').map(Number)
  const sqlite = major * 1e6 + minor * 1e3 + patch
  return Number.parseInt(process.versions.node, 10) >= minMajor && sqlite >= 3_051_003
}

/** The channel closes however this process ends. */
async function relay() {
  const node = await newerNode()
  if (!node) return refuse('npm installed none for this platform')
  const [{ spawn }, { fileURLToPath }] = await Promise.all([
    import('node:child_process'),
    import('node:url'),
  ])
  const relayed = fileURLToPath(new URL('./relayed.js', import.meta.url))
  const child = spawn(node, ['--disable-sigusr1', relayed, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  child.on('error', (error) => refuse(`the one from npm does not run here (${error.message})`))

  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP'])) {
    process.on(signal, () => {
      // On a terminal, Ctrl-C also reaches the child.
      const isFromTerminal = signal === 'SIGINT' && process.stdin.isTTY
      if (!isFromTerminal) child.kill(signal)
    })
  }
  child.on('exit', (status, signal) => {
    if (status === 127)
      return refuse('the one from npm lacks a library of this system, named above')
    if (signal === null) process.exit(status)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

/** @param {string} reason */
function refuse(reason) {
  process.stderr.write(
    `Carillon needs Node ${minMajor} or later: this is ${process.version}, and ${reason}. Install a newer Node from https://nodejs.org and try again.\n`,
  )
  process.exitCode = 1
}
