import { Command } from 'commander'
import { signOutEveryone } from '../../sessions/everyone.ts'
import { keysAndSealing } from '../../tokens/signing-keys.ts'
import { signOutUser } from '../../users/access/access.ts'
import { findUser, type UserKey } from '../../users/find-user.ts'
import { print, WrongUse } from '../terminal/output.ts'
import { confirm } from '../terminal/prompts.ts'
import {
  identityOf,
  type KeyOptions,
  keyOf,
  named,
  nameOf,
  type Users,
  withUsers,
} from './user-key.ts'

const help = `
The user can sign in again with the same password. To refuse that, disable the user. Tokens of other issuers end only there.

With --all, every node refuses the sessions and tokens of all users within a second, for a day on which a backup or the secret was
stolen. Other services that verify tokens by themselves accept them until they expire.

Example:
  npx carillon user sign-out --all --except operator`

type SignOutOptions = KeyOptions & {
  application?: string
  all?: true
  except?: string
  yes?: boolean
}

export function signOutCommand(): Command {
  return named(new Command('sign-out').argument('[name]', 'the username'))
    .description('End every session and token of a user, who can sign in again')
    .option('--all', 'in place of a user: of every user')
    .option('--except <name>', 'with --all: the sessions of this user stay, but none of the tokens')
    .option('--yes', 'with --all: do not ask')
    .addHelpText('after', help)
    .action(signOut)
}

function signOut(
  name: string | undefined,
  options: SignOutOptions,
  command: Command,
): Promise<void> {
  const narrowing = [name, options.externalId, options.id, options.application]
  if (options.all && narrowing.some((one) => one !== undefined))
    throw new WrongUse('Name a user, or set --all, which is about all users of every application')
  if (!options.all && options.except !== undefined) throw new WrongUse('--except is for --all')
  if (options.all) return withUsers(command, (users) => signOutAll(users, options))
  const key = keyOf(name, options)
  return withUsers(command, (users) => signOutOne(users, key, options))
}

async function signOutOne(users: Users, key: UserKey, options: SignOutOptions): Promise<void> {
  const user = await signOutUser(users, key)
  const done = `Signed out ${nameOf(user)}; every session and token has ended`
  print(options, identityOf(user, { signedOut: true }), () => done)
}

async function signOutAll(users: Users, options: SignOutOptions): Promise<void> {
  const { except } = options
  const spared = except === undefined ? undefined : await findUser(users, { username: except })
  const { sealing } = await keysAndSealing(users)
  const exception = spared === undefined ? '' : `, except the sessions of ${nameOf(spared)}`
  await confirm(`End every session and token of every user${exception}?`, options)
  const sessions = await signOutEveryone({ ...users, sealing }, spared)
  const done = `Signed out every user${exception}; ${sessions} sessions and every token have ended`
  print(options, { all: true, sessions, except: spared?.id ?? null }, () => done)
}
