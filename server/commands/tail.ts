// `carillon tail`: follows an inbox in a terminal, as lines for people or as JSON for programs.
import { Command } from 'commander'
import { jsonLine } from '../basics/control-characters.ts'
import { configOf, withSettings } from './settings.ts'
import { countUpTo, type Output, printAll } from './terminal/output.ts'
import { passwordFromStdin, promptForPassword } from './terminal/prompts.ts'
import { requestService } from './terminal/service-request.ts'
import { linesOf, type TailEvent } from './terminal/tail-lines.ts'

type Options = Output & { user: string; passwordStdin?: boolean; last: number; since?: string }

export function tailCommand(): Command {
  const command = new Command('tail')
    .description('Show an inbox and its changes until Ctrl-C: lines on a terminal, JSON lines in a pipe')
    .option('--user <name>', 'the user of the inbox', 'operator')
    .option('--password-stdin', 'read the password from stdin; without this option the command prompts for it')
    .option('--last <count>', 'begin with this many existing notifications; up to 100', countUpTo(100), 10)
    .option('--since <position>', 'begin after the event with this position; replaces --last')
  return withSettings(command).action(tail)
}

async function tail(options: Options, command: Command): Promise<void> {
  const { url } = configOf(command)
  const { user, passwordStdin, last } = options
  const password = passwordStdin ? await passwordFromStdin() : await promptForPassword(`Password of ${user}: `)
  const signal = untilInterrupted()
  const isForPrograms = options.json || !process.stdout.isTTY
  const show = (event: TailEvent) => printAll(isForPrograms ? [jsonLine(event)] : linesOf(event, new Date()), signal)
  const follow = async () => {
    const { inbox } = await signedIn(url, { username: user, password }, signal)
    let { since } = options
    if (since === undefined) {
      const { items, version } = await inbox.list({ limit: Math.max(last, 1), signal })
      for (const notification of items.slice(0, last).toReversed()) await show({ type: 'listed', notification })
      // The stream continues exactly where the list ends.
      since = String(version)
    }
    for await (const event of inbox.subscribe({ since, signal })) await show(event)
  }
  try {
    await requestService(url, follow)
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Aborts at a signal, and when the reading program has closed the pipe, as `head` does after its lines. */
function untilInterrupted(): AbortSignal {
  const ended = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ended.abort())
  process.stdout.on('error', () => ended.abort())
  return ended.signal
}

/** Signs in by token, which leaves no session in the store, and signs in again when the token has expired. */
async function signedIn(baseUrl: string, credentials: { username: string; password: string }, signal: AbortSignal) {
  const { createCarillon } = await import('carillon-client')
  const connection = { baseUrl, fetch: fetchAsCarillon }
  const signIn = async () =>
    (await createCarillon(connection).login({ ...credentials, variant: 'stateless' }, { signal })).token
  return createCarillon({ ...connection, auth: signIn })
}

/** So that the user's list of sign-ins says "carillon", not "node". */
function fetchAsCarillon(url: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('user-agent', 'carillon')
  return fetch(url, { ...init, headers })
}
