import { newId } from '../../../server/basics/ids.ts'
import { addFactor } from '../../../server/factors/factors.store.ts'
import type { TestService } from '../service.ts'

/** The user has confirmed an authenticator app now. It has no secret, so no code of it is right. */
export async function addConfirmedApp(
  service: Pick<TestService, 'store' | 'now'>,
  userId: string,
): Promise<void> {
  const at = service.now()
  const factor = {
    id: newId(at),
    kind: 'totp',
    label: 'app',
    createdAt: at,
    confirmedAt: at,
  } as const
  await service.store.write(addFactor, { userId, factor, maxFactors: 10, recoveryCodeHashes: [] })
}
