import type { Command } from 'commander'
import { setRole } from '../../users/access/access.ts'
import { print, WrongUse } from '../terminal/output.ts'
import { identityOf, type KeyOptions, keyOf, named, nameOf, withUsers } from './user-key.ts'

const help = `
An operator sees every user and changes them, in the browser. Somebody has to stay one. Links that were made for the user are void.`

export function addRoleCommand(user: Command): void {
  named(user.command('role'))
    .argument('<names...>', 'the username, unless an option names the user; operator or none')
    .description('Make a user an operator, who may open the page /operator, or take that away')
    .addHelpText('after', help)
    .action(changeRole)
}

function changeRole(
  names: readonly string[],
  options: KeyOptions,
  command: Command,
): Promise<void> {
  const [wanted, ...others] = names.toReversed()
  if (others.length > 1) throw new WrongUse('Give one username and a role')
  if (wanted !== 'operator' && wanted !== 'none')
    throw new WrongUse(`The role is operator or none, not "${wanted}"`)
  const key = keyOf(others[0], options)
  return withUsers(command, async (users) => {
    const user = await setRole(users, key, wanted === 'none' ? null : wanted)
    const done =
      wanted === 'none'
        ? 'is no operator any more'
        : 'is an operator: the page /operator opens at the next sign-in'
    print(options, identityOf(user, { role: wanted }), () => `${nameOf(user)} ${done}`)
  })
}
