// `carillon user`: add, list, disable, password.
import { Command } from 'commander'
import { Passwords } from '../sign-in/password/passwords.ts'
import { addUser, disableUser, makePassphrase, setPassword } from '../sign-in/users/users.ts'
import type { Store } from '../store/store.ts'
import { configOf, withSettings, withStore } from './settings.ts'
import { day, type Output, print, table } from './terminal/output.ts'
import { passwordFromStdin } from './terminal/password-input.ts'

const fromStdin = [
  '--password-stdin',
  'read the password from stdin; without this option one is generated and displayed once',
] as const
const listedAtOnce = 500

export function userCommand(): Command {
  const user = new Command('user').description('Add, list and disable users, set passwords')
  user
    .command('add <name>')
    .description('Add a user')
    .option(...fromStdin)
    .action((name, options, command) => withUsers(command, (users) => addOne(users, name, options)))
  user
    .command('list')
    .description('List the users')
    .action((options, command) => withUsers(command, (users) => listAll(users, options)))
  user
    .command('disable <name>')
    .description('Disable a user: every session and token ends')
    .action((name, options, command) => withUsers(command, (users) => disableOne(users, name, options)))
  user
    .command('password <name>')
    .description('Set a password: every session and token ends')
    .option(...fromStdin)
    .action((name, options, command) => withUsers(command, (users) => changePassword(users, name, options)))
  for (const command of user.commands) withSettings(command, 'user')
  return user
}

type Dependencies = { store: Store; passwords: Passwords; passwordMinLength: number; now: () => number }
type Chosen = { password: string; isGenerated: boolean }
type PasswordOptions = Output & { passwordStdin?: boolean }

function withUsers(command: Command, work: (dependencies: Dependencies) => Promise<void>): Promise<void> {
  const config = configOf(command, 'user')
  const passwords = new Passwords({ threads: 4 })
  return withStore(config, (store) =>
    work({ store, passwords, passwordMinLength: config.passwordMin, now: store.clock ?? Date.now }),
  )
}

async function addOne(dependencies: Dependencies, username: string, options: PasswordOptions): Promise<void> {
  const chosen = await passwordFrom(options)
  const user = await addUser(dependencies, { username, ...chosen })
  printWithPassword(options, { id: user.id, username: user.username }, chosen, `Added ${user.username} (${user.id})`)
}

async function changePassword(dependencies: Dependencies, username: string, options: PasswordOptions): Promise<void> {
  const chosen = await passwordFrom(options)
  await setPassword(dependencies, { username, ...chosen })
  printWithPassword(options, { username }, chosen, `Set the password of ${username}; every session and token has ended`)
}

/** The password is in the output only if it was generated: the user has to learn it. */
function printWithPassword(options: Output, value: object, { password, isGenerated }: Chosen, line: string): void {
  print(options, { ...value, ...(isGenerated && { password }) }, () =>
    isGenerated ? [line, `password: ${password}`, 'It is displayed once.'] : line,
  )
}

async function disableOne(dependencies: Dependencies, username: string, options: Output): Promise<void> {
  await disableUser(dependencies, { username })
  print(options, { username, disabled: true }, () => `Disabled ${username}; every session and token has ended`)
}

async function listAll({ store }: Dependencies, options: Output): Promise<void> {
  const users = await everyUser(store)
  const rows = users.map(({ username, id, createdAt, disabledAt }) => [
    username ?? '',
    id,
    day(createdAt),
    day(disabledAt),
  ])
  print(options, users, () =>
    users.length === 0
      ? 'There are no users yet. Add one with: carillon user add NAME'
      : table(['username', 'id', 'created', 'disabled'], rows),
  )
}

async function everyUser(store: Store) {
  const users = await store.listUsers({ after: '', limit: listedAtOnce })
  for (let page = users; page.length === listedAtOnce; ) {
    page = await store.listUsers({ after: page.at(-1)?.id ?? '', limit: listedAtOnce })
    users.push(...page)
  }
  return users
}

async function passwordFrom({ passwordStdin }: PasswordOptions): Promise<Chosen> {
  if (!passwordStdin) return { password: makePassphrase(), isGenerated: true }
  return { password: await passwordFromStdin(), isGenerated: false }
}
