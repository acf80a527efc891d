#!/usr/bin/env node
// Runs Carillon under a Node that can: this one where it is new enough, else the one that came along from npm.
// Plain JavaScript for Node 18 and later. What Carillon does with its arguments is the business of carillon.ts.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { platformNode } from './platform-node.js'
import { run } from './run.js'

const oldest = 24
const relayed = fileURLToPath(new URL('./relayed.js', import.meta.url))

// Without a listener SIGUSR1 opens Node's inspector, through which every local user can run code in the service.
process.on('SIGUSR1', () => {})

if (isFit() || (Number.parseInt(process.versions.node, 10) >= oldest && !platformNode())) await run()
else relay()

/** New enough, its SQLite too: before 3.51.3 the write-ahead log could, rarely, damage a database. */
function isFit() {
  const [major = 0, minor = 0, patch = 0] = (process.versions.sqlite ?? '').split('.').map(Number)
  const sqlite = major * 1e6 + minor * 1e3 + patch
  return Number.parseInt(process.versions.node, 10) >= oldest && sqlite >= 3_051_003
}

/**
 * Stands in for the newer Node: passes signals on to it, and its end back. The channel (`ipc`) carries nothing: it closes
 * when this process dies, however it dies.
 */
function relay() {
  const node = platformNode()
  if (!node) return refuse('npm brought none along for this platform')
  const child = spawn(node, ['--disable-sigusr1', relayed, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  child.on('error', (error) => refuse(`the one from npm does not run here (${error.message})`))

  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP'])) {
    process.on(signal, () => {
      const toldByTerminal = signal === 'SIGINT' && process.stdin.isTTY
      if (!toldByTerminal) child.kill(signal)
    })
  }
  child.on('exit', (status, signal) => {
    if (signal === null) process.exit(status)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

/** @param {string} why */
function refuse(why) {
  process.stderr.write(
    `Carillon needs Node ${oldest} or later: this is ${process.version}, and ${why}. Install a newer Node from https://nodejs.org and try again.\n`,
  )
  process.exitCode = 1
}
