import { Command } from 'commander'
import { conflict } from '../../basics/errors.ts'
import { Sealing } from '../../basics/secrets.ts'
import { factorsOf } from '../../factors/factors.store.ts'
import { resetFactors } from '../../factors/factors.ts'
import { removeUnreadable, unreadableFactors } from '../../factors/re-sealing.ts'
import { secretsIn } from '../../tokens/sealing-secret.ts'
import { findUser, type UserKey } from '../../users/find-user.ts'
import { findUser as findStoredUser } from '../../users/users.store.ts'
import { day, type Output, print, table, WrongUse } from '../terminal/output.ts'
import { confirm } from '../terminal/prompts.ts'
import {
  aboutUser,
  identityOf,
  type KeyOptions,
  keyOf,
  named,
  nameOf,
  type Users,
  withUsers,
} from './user-key.ts'

const resetHelp = `
For a user who has lost every factor and the recovery codes. Make sure who asks for it: afterwards the password alone signs in. Every
session and token of the user ends, because a lost phone may be signed in.

With --unreadable, it removes the factors that the secret of the service no longer opens, of all users, and nothing else. Users who have no other
factor then sign in with the password alone.`

type ResetOptions = KeyOptions & { yes?: boolean; unreadable?: true }

export function factorsCommand(): Command {
  const factors = new Command('factors').description(
    'List the second factors of a user, or remove them all',
  )
  aboutUser(factors.command('list [name]'), listAll).description(
    'List the second factors of a user, without their secrets',
  )
  named(factors.command('reset [name]'))
    .description(
      'Remove every second factor, passkey and recovery code of a user; every session and token ends',
    )
    .option(
      '--unreadable',
      'in place of a user: remove, for all users, the factors that the secret of the service does not open',
    )
    .option('--yes', 'do not ask')
    .addHelpText('after', resetHelp)
    .action(reset)
  return factors
}

async function listAll(users: Users, key: UserKey, options: Output): Promise<void> {
  const user = await findUser(users, key)
  const { factors, recoveryCodesLeft } = await users.store.read(factorsOf, user.id)
  const items = factors.map(({ id, kind, label, createdAt, confirmedAt, lastUsedAt }) => {
    return { id, kind, label, confirmed: confirmedAt !== null, createdAt, lastUsedAt }
  })
  print(options, { items, recoveryCodesLeft }, () => {
    if (items.length === 0) return `${nameOf(user)} has no second factor`
    const lines = table(items, {
      id: 'id',
      kind: 'kind',
      label: 'label',
      confirmed: ({ confirmed }) => (confirmed ? 'yes' : 'no'),
      added: ({ createdAt }) => day(createdAt),
      'last used': ({ lastUsedAt }) => day(lastUsedAt),
    })
    return [...lines, `recovery codes left: ${recoveryCodesLeft}`]
  })
}

function reset(name: string | undefined, options: ResetOptions, command: Command): Promise<void> {
  const isNamed = name !== undefined || options.externalId !== undefined || options.id !== undefined
  if (options.unreadable && isNamed)
    throw new WrongUse('Name a user, or set --unreadable, which is about all users')
  if (options.unreadable) return withUsers(command, (users) => resetUnreadable(users, options))
  const key = keyOf(name, options)
  return withUsers(command, (users) => resetAll(users, key, options))
}

async function resetAll(users: Users, key: UserKey, options: ResetOptions): Promise<void> {
  const user = await findUser(users, key)
  await confirm(
    `Remove every second factor of ${nameOf(user)} (${user.id}) and end every sign-in?`,
    options,
  )
  const removed = await resetFactors(users, user)
  const done = `Removed ${removed} second factors of ${nameOf(user)}; every session and token has ended`
  print(options, identityOf(user, { removed }), () => done)
}

async function resetUnreadable(users: Users, options: ResetOptions): Promise<void> {
  const secrets = secretsIn(users.config)
  if (secrets === undefined)
    throw conflict('No secret is set', 'Set CARILLON_SECRET to that of the service.')
  const factors = await unreadableFactors(users.store, new Sealing(secrets))
  const ids = [...new Set(factors.map(({ userId }) => userId))]
  const found = await Promise.all(ids.map((id) => users.store.read(findStoredUser, id)))
  const concerned = found.filter((user) => user !== undefined)
  const summary = `${factors.length} second factors of ${ids.length} users that the secret does not open`
  const names = concerned.map(nameOf).join(', ')
  if (factors.length > 0) await confirm(`Remove ${summary} (${names})?`, options)
  await removeUnreadable(users, factors)
  const identities = concerned.map(({ id, username, externalId }) => ({ id, username, externalId }))
  print(options, { removed: factors.length, users: identities }, () =>
    factors.length === 0 ? 'The secret opens every second factor' : [`Removed ${summary}:`, names],
  )
}
