// Recognises the external ids of erased users (U7). Of each the store keeps a MAC alone, over application, issuer and id, and only for
// CARILLON_ERASED_FOR. Its key is random, made at the first start, and sealed (decision 0044).
import { createHmac } from 'node:crypto'
import { all, get, inList, type Read, send, type Write } from '../store/statements.ts'

/**
 * What a write needs to recognise erased ids: the key of their MACs, the time since which an erasure counts, and for each issuer the
 * namespaces of plain ids and of its own.
 */
export type Recognition = { key: string; since: number; issuers?: readonly { plain: string; own: string }[] }

/** `namespace`: of application and issuer (users.store.ts). */
export type Named = { namespace: string; externalId: string | null }

/** No part has a line break. */
export function macOf({ key }: Recognition, { namespace, externalId }: Named): string {
  return createHmac('sha256', key).update(`${namespace}\n${externalId}`).digest('base64url')
}

/** Those whose ids were erased. The caller has just added them: so an erasure at the same moment is over, and is seen. */
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

/**
 * Forgets that ids of users who were just added on purpose had been erased, also the same ids of the application's issuers. Returns these
 * users.
 */
export function* forgetErased(recognition: Recognition | undefined, added: readonly Named[]): Write<Named[]> {
  const ofIssuers = (recognition?.issuers ?? []).flatMap(({ plain, own }) =>
    added.filter(({ namespace }) => namespace === plain).map((one) => ({ ...one, namespace: own })),
  )
  const erased = yield* findErased(recognition, [...added, ...ofIssuers])
  if (erased.length > 0) yield* send`delete from erased_id where mac ${inList(erased.map(({ mac }) => mac))}`
  return erased
}

/** Removes the MACs of ids that were erased until `before`. */
export function* removeOldErased(before: number): Write<void> {
  yield* send`delete from erased_id where erased_at <= ${before}`
}

/** The sealed key of the MACs; undefined before the first start. */
export function* sealedErasedKey(): Read<string | undefined> {
  return (yield* get<{ sealed: string }>`select sealed from erased_key`)?.sealed
}

/** Stores the sealed key, unless there is one. */
export function* addErasedKey(sealed: string): Write<void> {
  yield* send`insert into erased_key (number, sealed) values (1, ${sealed}) on conflict do nothing`
}

/** Replaces the sealed key if it is still `from`. */
export function* resealErasedKey({ from, to }: { from: string; to: string }): Write<void> {
  yield* send`update erased_key set sealed = ${to} where sealed = ${from}`
}
