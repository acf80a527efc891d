// Who is one client? This is the one definition. Every budget counts by these groups, so that no attack goes between two budgets: guesses,
// mails, sign-ins and changes are counted in the store, for all nodes; queues, exports and streams in the process (decision 0039).
import { isIPv6 } from 'node:net'
import { networkOf } from './ip-addresses.ts'

export type Client = {
  /** Absent if an act of a signed-in user is counted, which is never by network. */
  address?: string | undefined
  /** The id of a user, or a name that no user may have. */
  account: string
  /** What proves that the user of the account was here before: a known device, a sign-in or a one-time link. */
  device?: string | undefined
}

/** A network of the client together with its account: `pair` is of the widest. A signed-in user is a network of its own. */
type ClientGroups = { networks: readonly [string, ...string[]]; network: string; account: string; pair: string }

export function groupsOf({ address, account }: Client): ClientGroups {
  const networks: [string, ...string[]] = address === undefined ? [`user ${account}`] : networksOf(address)
  const network = networks.at(-1) ?? networks[0]
  return {
    networks,
    network,
    account: `account ${account}`,
    pair: `${network} ${account}`,
  }
}

/**
 * From narrow to wide: an IPv4 address, or of IPv6 the /64, in which a client may change its address, and what a provider gives a customer:
 * the /56 and /48 (RFC 6177).
 */
export function networksOf(address: string): [string, ...string[]] {
  const within = (prefix: number) => `${networkOf(address, prefix)}/${prefix}`
  return isIPv6(address) ? [within(64), within(56), within(48)] : [address]
}

/** The widest one. */
export function wideNetworkOf(address: string): string {
  return networksOf(address).at(-1) ?? address
}
