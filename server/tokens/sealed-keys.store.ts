// The service makes one sealed key for each purpose (decision 0044).
import { get, type Read, run, send, type Write } from '../store/statements.ts'

export const keyPurposes = ['erased-ids', 'push'] as const
export type KeyPurpose = (typeof keyPurposes)[number]

export function* sealedKey(purpose: KeyPurpose): Read<string | undefined> {
  return (yield* get<{ sealed: string }>`select sealed from sealed_key where purpose = ${purpose}`)
    ?.sealed
}

/** Does nothing if there is a key. With a new one for pushes, every subscription would end. */
export function* addSealedKey({
  purpose,
  sealed,
}: {
  purpose: KeyPurpose
  sealed: string
}): Write<void> {
  const added = yield* run`
    insert into sealed_key (purpose, sealed) values (${purpose}, ${sealed}) on conflict do nothing`
  if (added > 0 && purpose === 'push') yield* send`delete from push_subscription`
}

/** Does nothing unless the sealed key is still `from`. */
export function* resealKeys(keys: readonly { from: string; to: string }[]): Write<void> {
  for (const { from, to } of keys)
    yield* send`update sealed_key set sealed = ${to} where sealed = ${from}`
}
