// How an entry of the audit log is made: who did it and from where, what happened, and to whom.
import { newId } from '../../ids.ts'
import type { AuditEntry } from '../../store/store.ts'

/** Who does something, and from where. `actor` as in AuditEntry; a command has no address and no request. */
export type Source = Pick<AuditEntry, 'actor' | 'address' | 'userAgent' | 'requestId'>

type Facts = { event: string; at: number } & Partial<Pick<AuditEntry, 'userId' | 'signInId' | 'nameHash' | 'detail'>>

/** `detail` must not contain a secret. */
export function auditEntry(source: Source, { event, at, ...facts }: Facts): AuditEntry {
  const { userId = null, signInId = null, nameHash = null, detail = null } = facts
  const { actor, address, userAgent, requestId } = source
  return {
    id: newId(at),
    at,
    event,
    actor,
    userId,
    address,
    userAgent,
    requestId,
    signInId,
    nameHash,
    detail,
    count: 1,
  }
}
