// Adds a passkey of a software authenticator to a user, without the routes; gives a page of Chromium an authenticator.
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
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

/** It verifies its user until the returned function says otherwise. */
export async function virtualAuthenticator(page: Page) {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    automaticPresenceSimulation: true,
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
  } as const
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', { options })
  return (isUserVerified: boolean) =>
    cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })
}
