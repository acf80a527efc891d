// The change signals after a change that ends sessions and tokens of a user.
import type { Database } from '../connection/connection.ts'

export function signalEndOfProofs({ changeSignals }: Database, userId: string): void {
  changeSignals.send({ about: 'session', userId })
  changeSignals.send({ about: 'token-revocation' })
}
