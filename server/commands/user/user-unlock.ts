// `carillon user unlock`: forgets the wrong guesses of an account, so that its user signs in without a delay.
import { Command } from 'commander'
import { unlock } from '../../users/credentials.ts'
import type { UserKey } from '../../users/users.ts'
import { type Output, print } from '../terminal/output.ts'
import { aboutUser, identityOf, named, nameOf, type Users } from './user-key.ts'

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
    .action(aboutUser(unlockOne))
}

async function unlockOne(users: Users, key: UserKey, options: Output): Promise<void> {
  const { user, hadFailures } = await unlock(users, key)
  const none = `${nameOf(user)} had no wrong guesses; nothing was changed`
  const done = hadFailures ? `Unlocked ${nameOf(user)}; the next sign-in is not delayed` : none
  print(options, identityOf(user, { hadFailures }), () => done)
}
