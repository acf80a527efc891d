// Defines who is one client. Every budget counts by these groups, so that no attack goes between
// two budgets (decision 0039).
import { isIPv6 } from 'node:net'
import { networkOf } from './ip-addresses.ts'

export type Client = {
  /** An act of a signed-in user is never counted by network. */
  address?: string | undefined
  account: string
  /** It proves that the user was here before. */
  device?: string | undefined
}

/** A signed-in user is a network of its own. */
type ClientGroups = {
  networks: readonly [string, ...string[]]
  network: string
  account: string
  pair: string
}

export function groupsOf({ address, account }: Client): ClientGroups {
  const networks: [string, ...string[]] =
    address === undefined ? [`user ${account}`] : networksOf(address)
  const network = networks.at(-1) ?? networks[0]
  return {
    networks,
    network,
    account: `account ${account}`,
    pair: `${network} ${account}`,
  }
}

/**
 * Returns the IPv4 address, or the /64 of a client and the /56 and /48 of a provider's customer
 * (RFC 6177).
 */
export function networksOf(address: string): [string, ...string[]] {
  const within = (prefix: number) => `${networkOf(address, prefix)}/${prefix}`
  return isIPv6(address) ? [within(64), within(56), within(48)] : [address]
}

export function wideNetworkOf(address: string): string {
  return networksOf(address).at(-1) ?? address
}
