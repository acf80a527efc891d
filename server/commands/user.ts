// `carillon user`: add, list, disable, password.
import { Command } from 'commander'
import type { Config } from '../config/settings.ts'
import { Passwords } from '../sign-in/password/passwords.ts'
import { addUser, disableUser, makePassphrase, setPassword } from '../sign-in/users/users.ts'
import type { Store } from '../store/store.ts'
import { configOf, withSettings, withStore } from './settings.ts'
import { day, type Output, print, table } from './terminal/output.ts'
import { passwordFromStdin } from './terminal/password-from.ts'

const fromStdin = ['--password-stdin', 'read the password from stdin; without it one is made and shown once'] as const
const listedAtOnce = 500

export function userCommand(): Command {
  const add = withSettings(
    new Command('add')
      .argument('<name>')
      .description('Add a user')
      .option(...fromStdin),
    'user',
  )
  add.action((name, options) => withUsers(add, (parts) => addOne(parts, name, options)))
  const list = withSettings(new Command('list').description('List the users'), 'user')
  list.action((options) => withUsers(list, (parts) => listAll(parts, options)))
  const disable = withSettings(
    new Command('disable').argument('<name>').description('Disable a user: every session and token ends'),
    'user',
  )
  disable.action((name, options) => withUsers(disable, (parts) => disableOne(parts, name, options)))
  const password = withSettings(
    new Command('password')
      .argument('<name>')
      .description('Set a password: every session and token ends')
      .option(...fromStdin),
    'user',
  )
  password.action((name, options) => withUsers(password, (parts) => changePassword(parts, name, options)))
  const user = new Command('user').description('Add, list and disable users, set passwords')
  for (const command of [add, list, disable, password]) user.addCommand(command)
  return user
}

type Parts = { store: Store; passwords: Passwords; passwordMinLength: number; now: () => number }
type PasswordOptions = Output & { passwordStdin?: boolean }

async function withUsers(command: Command, work: (parts: Parts) => Promise<void>): Promise<void> {
  const config: Config = configOf(command, 'user')
  const passwords = new Passwords({ threads: 4 })
  await withStore(config, (store) => {
    const now = store.clock ?? Date.now
    return work({ store, passwords, passwordMinLength: config.passwordMin, now })
  })
}

async function addOne(parts: Parts, username: string, options: PasswordOptions): Promise<void> {
  const chosen = await passwordFrom(options)
  const user = await addUser(parts, { username, password: chosen.password })
  const made = chosen.isMade ? { password: chosen.password } : {}
  print(options, { id: user.id, username: user.username, ...made }, () => [
    `Added ${user.username} (${user.id})`,
    ...(chosen.isMade ? [`password: ${chosen.password}`, 'It is shown this once.'] : []),
  ])
}

async function changePassword(parts: Parts, username: string, options: PasswordOptions): Promise<void> {
  const chosen = await passwordFrom(options)
  await setPassword(parts, { username, password: chosen.password })
  const made = chosen.isMade ? { password: chosen.password } : {}
  print(options, { username, ...made }, () => [
    `Set the password of ${username}; every session and token has ended`,
    ...(chosen.isMade ? [`password: ${chosen.password}`, 'It is shown this once.'] : []),
  ])
}

async function disableOne(parts: Parts, username: string, options: Output): Promise<void> {
  await disableUser(parts, username)
  print(options, { username, disabled: true }, () => `Disabled ${username}; every session and token has ended`)
}

async function listAll({ store }: Parts, options: Output): Promise<void> {
  const users = await everyUser(store)
  const rows = users.map(({ username, id, createdAt, disabledAt }) => [username, id, day(createdAt), day(disabledAt)])
  print(options, users, () =>
    users.length === 0
      ? 'There are no users yet. Add one with: carillon user add NAME'
      : table(['username', 'id', 'created', 'disabled'], rows),
  )
}

async function everyUser(store: Store) {
  const users = await store.listUsers({ after: '', limit: listedAtOnce })
  for (let page = users; page.length === listedAtOnce; ) {
    page = await store.listUsers({ after: page.at(-1)?.username ?? '', limit: listedAtOnce })
    users.push(...page)
  }
  return users
}

async function passwordFrom({ passwordStdin }: PasswordOptions): Promise<{ password: string; isMade: boolean }> {
  if (!passwordStdin) return { password: makePassphrase(), isMade: true }
  return { password: await passwordFromStdin(), isMade: false }
}
