// The process of command-line.ts runs carillon.ts from the start for each order, with its
// arguments, settings and input.
import { Readable } from 'node:stream'
import type { Order, Run } from './command-line.ts'

const settings = /^CARILLON_/
let runs = 0

process.on('message', async (order: Order) => {
  process.send?.(await runCommand(order))
})

async function runCommand({ cwd, env, args, stdin }: Order): Promise<Run> {
  process.chdir(cwd)
  process.argv = [process.execPath, 'carillon', ...args]
  for (const name of Object.keys(process.env).filter((one) => settings.test(one)))
    delete process.env[name]
  Object.assign(process.env, env)
  Object.defineProperty(process, 'stdin', {
    value: Readable.from([Buffer.from(stdin)]),
    configurable: true,
  })
  process.exitCode = undefined
  const stdout = outputOf(process.stdout)
  const stderr = outputOf(process.stderr)
  // The query makes Node run the module again; what it imports is loaded once.
  await import(`../../../server/carillon.ts?run=${++runs}`)
  process.stdout.removeAllListeners('error')
  return { status: Number(process.exitCode ?? 0), stdout: stdout(), stderr: stderr() }
}

function outputOf(stream: NodeJS.WriteStream): () => string {
  let output = ''
  stream.write = (text: string | Uint8Array) => {
    output += text
    return true
  }
  return () => output
}
