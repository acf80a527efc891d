// `carillon user unlock`: forgets the wrong guesses of an account, so that its user signs in without a delay.
import { Command } from 'commander'
import { unlock } from '../../sign-in/guessing/guesses.ts'
import type { UserKey } from '../../sign-in/users/users.ts'
import { type Output, print } from '../terminal/output.ts'
import { type KeyOptions, keyOf, named, nameOf, withUsers } from './user-key.ts'

const help = `
After several wrong passwords, an account has to wait before its next sign-in. The command ends that, for passwords and second
factors, from every address. A known device never waits for others. The limit of an address stays: it ends by itself within an hour.

Examples:
  npx carillon user unlock ann
  npx carillon user unlock --external-id customer-42 --json`

export function unlockCommand(): Command {
  return named(new Command('unlock').argument('[name]'))
    .description('Forget the wrong passwords and codes of a user: the next sign-in is not delayed')
    .addHelpText('after', help)
    .action((name, options: KeyOptions, command) => unlockOne(command, keyOf(name, options), options))
}

function unlockOne(command: Command, key: UserKey, options: Output): Promise<void> {
  return withUsers(command, async (users) => {
    const { user, hadFailures } = await unlock(users, key)
    const { id, username, externalId } = user
    const value = { id, username, ...(externalId !== null && { externalId }), hadFailures }
    const none = `${nameOf(user)} had no wrong guesses; nothing was changed`
    print(options, value, () => (hadFailures ? `Unlocked ${nameOf(user)}; the next sign-in is not delayed` : none))
  })
}
