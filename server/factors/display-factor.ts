import { iso } from '../basics/clock.ts'
import type { Factor } from './factors.store.ts'

export function displayAdded(factor: Factor, outcome: 'done' | 'first', codes: readonly string[]) {
  return { ...displayFactor(factor), ...(outcome === 'first' && { recoveryCodes: codes }) }
}

export function displayFactor({ id, kind, label, confirmedAt, createdAt, lastUsedAt }: Factor) {
  const used = lastUsedAt === null ? null : iso(lastUsedAt)
  return {
    id,
    kind,
    label,
    confirmed: confirmedAt !== null,
    createdAt: iso(createdAt),
    lastUsedAt: used,
  }
}
