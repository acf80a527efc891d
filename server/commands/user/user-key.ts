import type { Command } from 'commander'
import { Sealing } from '../../basics/secrets.ts'
import { Passwords } from '../../passwords/passwords.ts'
import { passwordRulesOf } from '../../start/password-settings.ts'
import { sealingSecrets } from '../../tokens/sealing-secret.ts'
import { recogniserOf } from '../../users/erasure/erased-ids.ts'
import type { UserDependencies, UserKey } from '../../users/find-user.ts'
import type { User } from '../../users/users.store.ts'
import { type Place, withStore } from '../settings.ts'
import { type Output, readApplication, WrongUse } from '../terminal/output.ts'

export type KeyOptions = Output & { externalId?: string; id?: string }

export const ofApplication = [
  '--application <name>',
  'the application that the user belongs to',
  readApplication,
] as const

export function named(command: Command): Command {
  return command
    .option(
      '--external-id <id>',
      'the user with this id in your application, in place of a username',
    )
    .option(...ofApplication)
    .option('--id <id>', 'the user with this id of Carillon, in place of a username')
}

export function keyOf(username: string | undefined, { externalId, id }: KeyOptions): UserKey {
  const given = [username, externalId, id].filter((value) => value !== undefined)
  if (given.length !== 1)
    throw new WrongUse('Name the user once: by username, by --external-id or by --id')
  if (username !== undefined) return { username }
  return externalId === undefined ? { id: id as string } : { externalId }
}

export function identityOf({ id, username, externalId }: User, state: object): object {
  return { id, username, ...(externalId !== null && { externalId }), ...state }
}

export function nameOf({ username, externalId, id }: User): string {
  return username ?? externalId ?? id
}

export type Users = UserDependencies & Place

export function aboutUser<Options extends KeyOptions>(
  subcommand: Command,
  work: (users: Users, key: UserKey, options: Options) => Promise<void>,
): Command {
  return named(subcommand).action((username, options, command) => {
    const key = keyOf(username, options)
    return withUsers(command, (users) => work(users, key, options))
  })
}

export function withUsers<Result>(
  command: Command,
  work: (users: Users) => Promise<Result>,
): Promise<Result> {
  const { application } = command.opts<{ application?: string }>()
  return withStore(command, (place) => {
    const passwords = new Passwords({ threads: 4 })
    const erased = recogniserOf(
      { ...place, aged: async () => place.now() },
      async () => new Sealing(await sealingSecrets(place.config, place.store)),
    )
    return work({ ...place, application, passwords, ...passwordRulesOf(place.config), erased })
  })
}
