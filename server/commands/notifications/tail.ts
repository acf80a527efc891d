import { Command } from 'commander'
import { jsonLine } from '../../basics/control-characters.ts'
import { conflict } from '../../basics/errors.ts'
import { makeToken } from '../../tokens/key-material.ts'
import { maxTokenLifeMs } from '../../tokens/read-token.ts'
import { sealingSecrets } from '../../tokens/sealing-secret.ts'
import { signingKeys } from '../../tokens/signing-keys.store.ts'
import { findUser } from '../../users/find-user.ts'
import { configOf, withSettings } from '../settings.ts'
import { lastUpTo, type Output, printAll } from '../terminal/output.ts'
import { passwordFromStdin, promptForPassword } from '../terminal/prompts.ts'
import { requestService } from '../terminal/service-request.ts'
import { linesOf, type TailEvent } from '../terminal/tail-lines.ts'
import { ofApplication, withUsers } from '../user/user-key.ts'

type Options = Output & {
  user: string
  external?: string
  passwordStdin?: boolean
  last: number
  since?: string
}

export function makeCommand(): Command {
  const command = new Command('tail')
    .description(
      'Show an inbox and its changes until Ctrl-C: lines on a terminal, JSON lines in a pipe',
    )
    .option('--user <name>', 'the user of the inbox', 'operator')
    .option(
      '--external <id>',
      'the user with this id in your application, by the database of the service in place of a password',
    )
    .option(...ofApplication)
    .option(
      '--password-stdin',
      'read the password from stdin; without this option the command prompts for it',
    )
    .option(
      '--last <count>',
      'begin with this many existing notifications; up to 100',
      lastUpTo(100),
      10,
    )
    .option('--since <position>', 'begin after the event with this position; replaces --last')
  return withSettings(command).action(tail)
}

async function tail(options: Options, command: Command): Promise<void> {
  const { url } = configOf(command)
  const { last } = options
  const prove =
    options.external === undefined
      ? await byPassword(url, options)
      : () => inboxToken(command, options)
  const signal = untilInterrupted()
  const isForPrograms = options.json || !process.stdout.isTTY
  const show = (event: TailEvent) =>
    printAll(isForPrograms ? [jsonLine(event)] : linesOf(event, new Date()), signal)
  const follow = async () => {
    const { createCarillon } = await import('carillon-client')
    const { inbox } = createCarillon({ baseUrl: url, fetch: fetchAsCarillon, auth: prove })
    let { since } = options
    if (since === undefined) {
      const { items, version } = await inbox.list({ limit: Math.max(last, 1), signal })
      for (const notification of items.slice(0, last).toReversed())
        await show({ type: 'listed', notification })
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

function untilInterrupted(): AbortSignal {
  const ended = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => ended.abort())
  process.stdout.on('error', () => ended.abort())
  return ended.signal
}

/** A token leaves no session behind. */
async function byPassword(
  baseUrl: string,
  { user, passwordStdin }: Options,
): Promise<() => Promise<string>> {
  const password = passwordStdin
    ? await passwordFromStdin()
    : await promptForPassword(`Password of ${user}: `)
  const { createCarillon } = await import('carillon-client')
  const { login } = createCarillon({ baseUrl, fetch: fetchAsCarillon })
  return async () => (await login({ username: user, password, variant: 'stateless' })).token
}

function inboxToken(command: Command, { external = '' }: Options): Promise<string> {
  return withUsers(command, async (users) => {
    const { store, now, config } = users
    const user = await findUser(users, { externalId: external })
    if (user.disabledAt !== null)
      throw conflict('This user is disabled', 'Enable the user first: carillon user enable.')
    const making = {
      signingKeys: await store.read(signingKeys),
      secrets: await sealingSecrets(config, store),
      issuer: config.publicUrl ?? config.url,
      now,
      lifetimeMs: maxTokenLifeMs,
    }
    const { id: userId, credentialGeneration: generation, issuedGeneration } = user
    return makeToken(making, { userId, username: null, generation, issuedGeneration })
  })
}

/** Sign-ins are listed as "carillon", not "node". */
function fetchAsCarillon(url: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('user-agent', 'carillon')
  return fetch(url, { ...init, headers })
}
