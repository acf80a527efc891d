// Ends the sign-ins of a user. Each write runs in the writer thread's transaction.
import type { Input } from '../../store.ts'
import { recordAudit } from './audit.ts'
import type { WriteContext } from './context.ts'
import { endProofs, isExceptionAlive } from './proofs.ts'

export function endOtherSignIns(context: WriteContext, change: Input<'endOtherSignIns'>): 'done' | 'refused' {
  if (!isExceptionAlive(context, change)) return 'refused'
  context.sql.run`
    update user set credential_generation = credential_generation + 1 where id = ${change.userId}`
  endProofs(context, change)
  recordAudit(context, change.audit)
  return 'done'
}
