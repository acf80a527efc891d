// `carillon tail`: a live inbox in a terminal: lines for people, events as JSON for programs.
import { once } from 'node:events'
import type { Carillon } from 'carillon-client'
import { Command, InvalidArgumentError } from 'commander'
import { configOf, withSettings } from './settings.ts'
import { asking } from './terminal/asking.ts'
import type { Output } from './terminal/output.ts'
import { askForPassword, passwordFromStdin } from './terminal/password-from.ts'
import { jsonOf, linesOf, type Shown } from './terminal/tail-lines.ts'

type Options = Output & { user: string; passwordStdin?: boolean; last: number; since?: string }

const maxListed = 100

export function tailCommand(): Command {
  const command = new Command('tail')
    .description('Show an inbox as it changes, until it is ended by Ctrl-C: lines on a terminal, JSON lines in a pipe')
    .option('--user <name>', 'whose inbox', 'operator')
    .option('--password-stdin', 'read the password from stdin; without it the terminal asks for it')
    .option('--last <count>', `begin with so many that are there already; up to ${maxListed}`, countOf, 10)
    .option('--since <position>', 'begin behind this event, by the position that it had; in place of --last')
  return withSettings(command, 'tail').action((options) => tail(command, options))
}

function countOf(text: string): number {
  const count = Number(text)
  if (/^\d+$/.test(text) && count <= maxListed) return count
  throw new InvalidArgumentError(`It takes a whole number from 0 to ${maxListed}.`)
}

async function tail(command: Command, options: Options): Promise<void> {
  const { url } = configOf(command, 'tail')
  const { user, passwordStdin } = options
  const password = passwordStdin ? await passwordFromStdin() : await askForPassword(`Password of ${user}: `)
  const ended = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ended.abort())
  // Whoever reads us has enough, as `head` does.
  process.stdout.on('error', () => ended.abort())
  const { signal } = ended
  const isForPrograms = options.json || !process.stdout.isTTY
  const lines = isForPrograms ? (event: Shown) => [jsonOf(event)] : (event: Shown) => linesOf(event, new Date())
  try {
    await asking(url, async () =>
      follow(await signedIn({ url, user, password, signal }), {
        ...options,
        signal,
        show: (event) => printAll(lines(event), signal),
      }),
    )
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

type Who = { url: string; user: string; password: string; signal: AbortSignal }

/** By token, which leaves no session behind. A new sign-in follows when one has expired. */
async function signedIn({ url, user, password, signal }: Who): Promise<Carillon> {
  const { createCarillon } = await import('carillon-client')
  const credentials = { username: user, password, variant: 'stateless' } as const
  const signIn = async () => (await createCarillon({ baseUrl: url }).login(credentials, { signal })).token
  return createCarillon({ baseUrl: url, auth: signIn })
}

type Following = Pick<Options, 'last' | 'since'> & { signal: AbortSignal; show: (event: Shown) => Promise<void> }

async function follow({ inbox }: Carillon, { last, since, signal, show }: Following): Promise<void> {
  const place = since ?? (await list({ inbox }, { last, signal, show }))
  for await (const event of inbox.subscribe({ since: place, signal })) await show(event)
}

/** Answers the version of what it showed: nothing falls between the list and the stream. */
async function list({ inbox }: Pick<Carillon, 'inbox'>, { last, signal, show }: Following): Promise<string> {
  const { items, version } = await inbox.list({ limit: Math.max(last, 1), signal })
  for (const notification of items.slice(0, last).toReversed()) await show({ type: 'listed', notification })
  return String(version)
}

/** Resolves when there is room for more: a program that reads slowly holds the stream back. */
async function printAll(lines: readonly string[], signal: AbortSignal): Promise<void> {
  for (const line of lines) if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain', { signal })
}
