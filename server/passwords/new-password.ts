// May this text become a password? The policy, and the lists of stolen passwords if the operator turned that check on.
import { type Fault, faulting } from '../basics/errors.ts'
import { loadBlockList } from './block-list.ts'
import type { Breaches } from './breaches.ts'
import { checkPassword, preparePassword } from './policy.ts'

export type PasswordRules = {
  passwordMinLength: number
  /** Absent if the check is off. */
  breaches?: Breaches | undefined
}

/** `username` is prepared; '' for none. `field` is the name of the password in the request. */
type NewPassword = { username: string; password: string; field?: string }

/** At most one fault. The service itself generates a password at its first start, and must not load the block list for it. */
export async function passwordFaults(
  { passwordMinLength, breaches }: PasswordRules,
  { username, password, field = 'password' }: NewPassword,
): Promise<Fault[]> {
  const blocked = await loadBlockList()
  const prepared = preparePassword(password)
  const faults: Fault[] = []
  faulting(faults, () => checkPassword(prepared, { username, minLength: passwordMinLength, blocked, field }))
  if (faults.length === 0 && (await breaches?.has(prepared)))
    faults.push({ field, reason: 'choose another: this one is in a list of stolen passwords', code: 'too_common' })
  return faults
}
