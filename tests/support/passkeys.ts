// Adds a passkey of a software authenticator to a user, without the routes.
import assert from 'node:assert/strict'
import { newId } from '../../server/basics/ids.ts'
import { addFactor } from '../../server/factors/factors.store.ts'
import type { TestService } from './service.ts'
import type { Passkey, SoftwareAuthenticator } from './software-authenticator.ts'

/** The passkey is for the host `rpId`. */
export async function addPasskey(
  { store, now }: TestService,
  authenticator: SoftwareAuthenticator,
  { id: userId }: { id: string },
  rpId = 'localhost',
): Promise<Passkey> {
  const user = { id: Buffer.from(userId).toString('base64url') }
  const { passkey, publicKey } = authenticator.create({ challenge: '', rp: { id: rpId }, user })
  const at = now()
  const factor = {
    id: newId(at),
    kind: 'passkey',
    label: 'Key',
    createdAt: at,
    confirmedAt: at,
  } as const
  const credential = { credentialId: passkey.id, publicKey, signCount: 0, transports: [] }
  const add = {
    userId,
    factor: { ...factor, ...credential },
    maxFactors: 20,
    recoveryCodeHashes: [],
  }
  assert.match(await store.write(addFactor, add), /^first|done$/)
  return passkey
}
