// Recognises the external ids of erased users (U7). For CARILLON_ERASED_FOR, the store keeps a MAC
// of each, with application and issuer. The key is random and sealed (tokens/sealed-keys.ts).
import { createHmac } from 'node:crypto'
import { all, inList, send, type Write } from '../../store/statements.ts'

/** `since`: earlier erasures do not count. */
export type Recognition = {
  key: string
  since: number
  issuers?: readonly { plain: string; own: string }[]
}

export type Named = { namespace: string; externalId: string | null }

/** No part has a line break. */
export function macOf({ key }: Recognition, { namespace, externalId }: Named): string {
  return createHmac('sha256', key).update(`${namespace}\n${externalId}`).digest('base64url')
}

/** The caller has just added them, so simultaneous erasures are over and seen. */
export function* findErased<Added extends Named>(
  recognition: Recognition | undefined,
  added: readonly Added[],
): Write<(Added & { mac: string })[]> {
  if (recognition === undefined || added.length === 0) return []
  const marked = added.map((one) => ({ ...one, mac: macOf(recognition, one) }))
  const rows = yield* all<{ mac: string }>`
    select mac from erased_id where mac ${inList(marked.map(({ mac }) => mac))} and erased_at > ${recognition.since}`
  const found = new Set(rows.map(({ mac }) => mac))
  return marked.filter(({ mac }) => found.has(mac))
}

/** Also forgets the same ids of the application's issuers. */
export function* forgetErased(
  recognition: Recognition | undefined,
  added: readonly Named[],
): Write<Named[]> {
  const ofIssuers = (recognition?.issuers ?? []).flatMap(({ plain, own }) =>
    added.filter(({ namespace }) => namespace === plain).map((one) => ({ ...one, namespace: own })),
  )
  const erased = yield* findErased(recognition, [...added, ...ofIssuers])
  if (erased.length > 0)
    yield* send`delete from erased_id where mac ${inList(erased.map(({ mac }) => mac))}`
  return erased
}

export function* removeOldErased(before: number): Write<void> {
  yield* send`delete from erased_id where erased_at <= ${before}`
}
