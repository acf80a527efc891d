// `carillon user link`: a one-time link by which a user sets a password, for the operator to pass on.
import { Command } from 'commander'
import { iso } from '../../basics/times.ts'
import type { Config } from '../../config/settings.ts'
import { createLink } from '../../links/links.ts'
import { linkSettings } from '../../start/password-settings.ts'
import type { UserDependencies, UserKey } from '../../users/users.ts'
import { print } from '../terminal/output.ts'
import { aboutUser, type KeyOptions, named } from './user-key.ts'

const help = `
The service has to be reachable under CARILLON_PUBLIC_URL. A newer link voids the one before; so does a new password.

Examples:
  npx carillon user link ann
  npx carillon user link ann --invite --public-url https://bell.example.org
  npx carillon user link --external-id customer-42 --json`

type LinkOptions = KeyOptions & { invite?: boolean }

export function linkCommand(): Command {
  return named(new Command('link').argument('[name]'))
    .description('Make a link by which a user sets a new password, once')
    .option('--invite', 'for the first password of an invited user')
    .addHelpText('after', help)
    .action(aboutUser(makeLink))
}

async function makeLink(users: UserDependencies, key: UserKey, options: LinkOptions, config: Config): Promise<void> {
  const publicUrl = () => config.publicUrl ?? `http://${config.host}:${config.port}`
  const purpose = options.invite ? 'invite' : 'reset'
  const { url, expiresAt, user } = await createLink(users, linkSettings(config, publicUrl), key, { purpose })
  const value = { id: user.id, username: user.username, purpose, url, expiresAt: iso(expiresAt) }
  print(options, value, () => [url, `For ${user.username}, once, until ${iso(expiresAt)}. It is displayed once.`])
}
