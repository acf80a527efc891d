import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { Command, Option } from 'commander'
import { iso } from '../../basics/clock.ts'
import type { LinkPurpose } from '../../links/links.store.ts'
import { createLink } from '../../links/links.ts'
import { exportOf } from '../../own-data/export.ts'
import { linkSettings } from '../../start/password-settings.ts'
import * as access from '../../users/access/access.ts'
import { unlock } from '../../users/credentials.ts'
import { displayAccount } from '../../users/display-user.ts'
import { findUser, type UserKey } from '../../users/find-user.ts'
import { listUsers, type User } from '../../users/users.store.ts'
import * as accounts from '../../users/users.ts'
import { withSettings } from '../settings.ts'
import { day, type Output, print, readApplication, table, WrongUse } from '../terminal/output.ts'
import { confirm, passwordFromStdin } from '../terminal/prompts.ts'
import { factorsCommand } from './user-factors.ts'
import { importFrom, importHelp } from './user-import.ts'
import {
  aboutUser,
  identityOf,
  type KeyOptions,
  keyOf,
  named,
  nameOf,
  ofApplication,
  type Users,
  withUsers,
} from './user-key.ts'
import { addRoleCommand } from './user-role.ts'
import { signOutCommand } from './user-sign-out.ts'

const fromStdin = [
  '--password-stdin',
  'read the password from stdin; without this option one is generated, displayed once, and works for seven days',
] as const
const generatedNote = `It is displayed once, and works for ${access.generatedPasswordDays} days: the user chooses another one before.`
const listedAtOnce = 500
const linkPurposes: readonly LinkPurpose[] = ['reset', 'invite', 'factor']

export function makeCommand(): Command {
  const user = new Command('user').description(
    'Add, import, export, list, rename, sign out, disable, enable and delete users, set passwords',
  )
  user
    .command('add [name]')
    .description(
      'Add a user: with a name and a password to sign in here, or with an external id alone',
    )
    .option('--external-id <id>', 'the id of the user in your application')
    .option(...ofApplication)
    .option('--display-name <text>', 'the name to show')
    .option('--locale <tag>', 'a language tag, such as de-CH')
    .option('--email <address>', 'the e-mail address')
    .option(...fromStdin)
    .addHelpText('after', help.add)
    .action(addOne)
  user
    .command('import <file>')
    .description(
      'Import users and the hashes of their passwords from a file with one JSON object per line; - is stdin',
    )
    .option(...ofApplication)
    .addHelpText('after', importHelp)
    .action((file, options, command) =>
      withUsers(command, (users) => importFrom(users, file, options)),
    )
  user
    .command('list')
    .description('List the users in the order of their creation')
    .option(
      '--search <text>',
      'only those whose username, display name, e-mail address or external id contains it',
    )
    .option('--external-id <id>', 'only the one with this external id')
    .option('--application <name>', 'only the users of this application', readApplication)
    .action(listAll)
  aboutUser(user.command('export [name]'), exportOne)
    .description('Write everything that the service keeps about a user, one JSON object per line')
    .option('--out <file>', 'a new file, in place of stdout')
    .addHelpText('after', help.export)
  named(user.command('rename'))
    .argument('<names...>', 'the username, unless an option names the user; the new username')
    .description('Give a user another username; sessions and tokens stay')
    .action(renameOne)
  aboutUser(user.command('disable [name]'), disableOne).description(
    'Disable a user: every session and token ends',
  )
  aboutUser(user.command('enable [name]'), enableOne).description(
    'Enable a disabled user; ended sessions and tokens stay ended',
  )
  aboutUser(user.command('delete [name]'), deleteOne)
    .description(
      'Erase a user with inbox, sessions and tokens; this cannot be undone. To keep the data, disable the user',
    )
    .option('--yes', 'do not ask')
  user
    .command('password <name>')
    .description('Set a password: every session and token ends')
    .option(...fromStdin)
    .action(changePassword)
  aboutUser(user.command('link [name]'), makeLink)
    .description(
      'Make a link by which a user sets a password or adds the first second factor, once',
    )
    .addOption(
      new Option('--purpose <purpose>', 'what the link is for')
        .choices(linkPurposes)
        .default('reset'),
    )
    .addHelpText('after', help.link)
  aboutUser(user.command('unlock [name]'), unlockOne)
    .description('Forget the wrong passwords and codes of a user: the next sign-in is not delayed')
    .addHelpText('after', help.unlock)
  addRoleCommand(user)
  return withSettings(user.addCommand(signOutCommand()).addCommand(factorsCommand()))
}

const help = {
  add: `
Examples:
  npx carillon user add ann
  npx carillon user add ann --password-stdin < password.txt
  npx carillon user add --external-id customer-42 --display-name 'Kim Park' --locale de-CH`,
  export: `
Each line has a type, such as notification. None has a secret. Users download the same on their account page.`,
  link: `
The purpose reset is for another password, invite for the first one, and factor for a user whose sign-in can only set up a second factor:
with the link and the password, the user adds the first one. Make sure who asks for it.

The service has to be reachable under CARILLON_PUBLIC_URL. The last three links are valid; a new password voids all of them.`,
  unlock: `
After several wrong passwords, an account has to wait before its next sign-in. The command ends that, for passwords and second
factors, from every address. A known device never waits for others. The limit of an address stays: it ends by itself within an hour.`,
}

type Chosen = { password: string; isGenerated: boolean }
type PasswordOptions = Output & { passwordStdin?: boolean }
type AddOptions = PasswordOptions & {
  externalId?: string
  displayName?: string
  locale?: string
  email?: string
}

async function addOne(
  username: string | undefined,
  options: AddOptions,
  command: Command,
): Promise<void> {
  const { externalId, displayName, locale, email } = options
  const given = Object.entries({ username, externalId, displayName, locale, email })
  const wanted = Object.fromEntries(given.filter(([, text]) => text !== undefined))
  if (username === undefined && externalId === undefined)
    throw new WrongUse('Give the user a name, or an --external-id')
  if (username === undefined && options.passwordStdin)
    throw new WrongUse('A user with a password needs a name to sign in by')
  const chosen = username === undefined ? undefined : await passwordFrom(options)
  const user = await withUsers(command, (users) =>
    accounts.addUser(users, { ...wanted, ...chosen }),
  )
  const line = `Added ${nameOf(user)} (${user.id})`
  if (chosen === undefined) print(options, { id: user.id, externalId }, () => line)
  else printWithPassword(options, identityOf(user, {}), chosen, line)
}

async function changePassword(
  username: string,
  options: PasswordOptions,
  command: Command,
): Promise<void> {
  const chosen = await passwordFrom(options)
  await withUsers(command, (users) => access.setPassword(users, { username, ...chosen }))
  printWithPassword(
    options,
    { username },
    chosen,
    `Set the password of ${username}; every session and token has ended`,
  )
}

function printWithPassword(
  options: Output,
  value: object,
  { password, isGenerated }: Chosen,
  line: string,
): void {
  print(options, { ...value, ...(isGenerated && { password }) }, () =>
    isGenerated ? [line, `password: ${password}`, generatedNote] : line,
  )
}

async function renameOne(
  names: readonly string[],
  options: KeyOptions,
  command: Command,
): Promise<void> {
  const isNamed = options.externalId === undefined && options.id === undefined
  const [newName = '', ...others] = names.toReversed()
  if (others.length !== (isNamed ? 1 : 0))
    throw new WrongUse(
      'Give the username and the new one, or --external-id or --id and the new one',
    )
  const key = keyOf(others[0], options)
  await withUsers(command, async (users) => {
    const before = await findUser(users, key)
    const { id, username } = await accounts.changeUser(
      users,
      { id: before.id },
      { username: newName },
    )
    print(options, { id, username }, () => `Renamed ${nameOf(before)} to ${username}`)
  })
}

async function disableOne(users: Users, key: UserKey, options: Output): Promise<void> {
  const user = await access.setDisabled(users, key, true)
  const done = `Disabled ${nameOf(user)}; every session and token has ended`
  print(options, identityOf(user, { disabled: true }), () => done)
}

async function enableOne(users: Users, key: UserKey, options: Output): Promise<void> {
  const user = await access.setDisabled(users, key, false)
  print(options, identityOf(user, { disabled: false }), () => `Enabled ${nameOf(user)}`)
}

async function deleteOne(
  users: Users,
  key: UserKey,
  options: Output & { yes?: boolean },
): Promise<void> {
  const user = await findUser(users, key)
  await confirm(`Erase ${nameOf(user)} (${user.id}) with inbox, sessions and tokens?`, options)
  await access.deleteUser(users, { id: user.id })
  print(options, identityOf(user, { deleted: true }), () => `Deleted ${nameOf(user)} (${user.id})`)
}

/** Mode 0600. `head` may close the pipe. */
async function exportOne(
  users: Users,
  key: UserKey,
  options: Output & { out?: string },
): Promise<void> {
  const { out } = options
  const user = await findUser(users, key)
  const output =
    out === undefined ? process.stdout : createWriteStream(out, { flags: 'wx', mode: 0o600 })
  await pipeline(exportOf(users, user), output, { end: out !== undefined }).catch((error) => {
    if (error.syscall === undefined) throw error
    if (error.code !== 'EPIPE') throw new WrongUse(`${out} cannot be written: ${error.code}`)
  })
  if (out !== undefined)
    print(
      options,
      identityOf(user, { file: out }),
      () => `Wrote the data of ${nameOf(user)} to ${out}`,
    )
}

async function makeLink(
  users: Users,
  key: UserKey,
  options: Output & { purpose: LinkPurpose },
): Promise<void> {
  const { config } = users
  const publicUrl = () => config.publicUrl ?? `http://${config.host}:${config.port}`
  const { purpose } = options
  const { url, expiresAt, user } = await createLink(users, linkSettings(config, publicUrl), key, {
    purpose,
  })
  const value = { id: user.id, username: user.username, purpose, url, expiresAt: iso(expiresAt) }
  print(options, value, () => [
    url,
    `For ${nameOf(user)}, once, until ${iso(expiresAt)}. It is displayed once.`,
  ])
}

async function unlockOne(users: Users, key: UserKey, options: Output): Promise<void> {
  const { user, hadFailures } = await unlock(users, key)
  const none = `${nameOf(user)} had no wrong guesses; nothing was changed`
  const done = hadFailures ? `Unlocked ${nameOf(user)}; the next sign-in is not delayed` : none
  print(options, identityOf(user, { hadFailures }), () => done)
}

type ListOptions = Output & { search?: string; externalId?: string; application?: string }

async function listAll(options: ListOptions, command: Command): Promise<void> {
  const users = await withUsers(command, (place) => everyUser(place, options))
  const items = users.map((user) => ({ ...displayAccount(user), role: user.role }))
  print(options, items, () => {
    if (users.length === 0) return 'There are no such users. Add one with: carillon user add NAME'
    return table(users, {
      username: 'username',
      'external id': 'externalId',
      application: 'application',
      role: 'role',
      id: 'id',
      created: ({ createdAt }) => day(createdAt),
      disabled: ({ disabledAt }) => day(disabledAt),
    })
  })
}

async function everyUser(
  { store, application }: Users,
  { search, externalId }: ListOptions,
): Promise<User[]> {
  const users: User[] = []
  for (;;) {
    const after = users.at(-1)?.id ?? ''
    const page = await store.read(listUsers, {
      after,
      limit: listedAtOnce,
      application,
      search,
      externalId,
    })
    users.push(...page)
    if (page.length < listedAtOnce) return users
  }
}

async function passwordFrom({ passwordStdin }: PasswordOptions): Promise<Chosen> {
  if (!passwordStdin) return { password: access.makePassphrase(), isGenerated: true }
  return { password: await passwordFromStdin(), isGenerated: false }
}
