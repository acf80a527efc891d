import { type RequestSource, sourceOf } from '../audit/entry.ts'
import { type CarillonError, linkInvalid, secondFactorRequired } from '../basics/errors.ts'
import { offeredFactors } from '../factors/factors.store.ts'
import type { FactorNeeds } from '../factors/factors.ts'
import { presentedDevices, tokenAfterLink } from '../guessing/device-tokens.ts'
import type { Exchange, Guarded, Subject } from '../http/operation.ts'
import { setCookie } from '../http/request/credentials.ts'
import { goneSignal } from '../http/response/send.ts'
import { passwordFaults } from '../passwords/policy.ts'
import { type NewProof, newProof, rotationOf } from '../sessions/own-sign-in.ts'
import { type SignInNeeds, signIn, type Variant } from '../sign-in/sign-in.ts'
import { changePassword } from '../users/access/access.ts'
import { checkCredentials } from '../users/credentials.ts'
import { findEnabledUser } from '../users/find-user.ts'
import { refuseFaults } from '../users/profile.ts'
import { findCredentials } from '../users/users.store.ts'
import type { Link } from './links.store.ts'
import { findLiveLink, resetPassword } from './links.ts'

const noAccount = { name: '', user: undefined }
const refused = { event: 'link-refused', code: 'LINK_INVALID', method: 'link' } as const

/**
 * A wrong token is a guess of its address. Others' guesses do not delay a right one, so that the
 * owner of an attacked account has a way in (docs/decisions/0042-links-and-mail.md).
 */
export async function presentedLink(
  needs: SignInNeeds,
  token: string,
  source: RequestSource,
): Promise<Link> {
  const { guesses, signInLog, users } = needs
  const link = await findLiveLink(users, token)
  if (link !== undefined) return link
  signInLog.refused(source, noAccount, refused)
  await guesses.begin(guesses.of({ address: source.address }, 'link'))
  throw linkInvalid()
}

type Reset = { token: string; newPassword: string; variant?: Variant }

export async function resetByLink(needs: SignInNeeds, reset: Reset, exchange: Exchange) {
  const { token, newPassword, variant } = reset
  const { request, reply } = exchange
  const source = sourceOf(needs, request)
  const link = await presentedLink(needs, token, source)
  const { userId } = link
  const attempt = {
    address: source.address,
    account: userId,
    device: `link ${token}`,
    signal: goneSignal(reply),
  }
  const change = { token, newPassword, attempt }
  const { before, user } = await resetPassword({ ...needs.users, source }, link, change).catch(
    (error: unknown) => {
      // The link was used during the hashing.
      if ((error as Partial<CarillonError>).code === refused.code)
        needs.signInLog.refused(source, noAccount, refused)
      throw error
    },
  )
  await needs.guesses.forgetPasswordGuesses(userId)
  const deviceToken = tokenAfterLink(needs, presentedDevices(needs, request), { before, user })
  if (variant === undefined) {
    setCookie(reply, needs.site.deviceCookie, deviceToken)
    return undefined
  }
  try {
    return await signIn(needs, user, { variant, method: 'link', source }, exchange)
  } catch (error) {
    const { secondFactor, code } = error as Partial<CarillonError>
    // Yet another password replaced this one.
    if (code === 'INVALID_CREDENTIALS') throw linkInvalid()
    if (secondFactor && variant === 'stateless')
      throw secondFactorRequired({ ...secondFactor, deviceToken })
    if (secondFactor) setCookie(reply, needs.site.deviceCookie, deviceToken)
    throw error
  }
}

type Passwords = { currentPassword: string; newPassword: string }

export async function changeOwnPassword(
  needs: FactorNeeds,
  { currentPassword, newPassword }: Passwords,
  exchange: Guarded<Subject>,
): Promise<NewProof> {
  const { request, reply } = exchange
  const { caller } = request
  const { store } = needs
  const source = sourceOf(needs, request)
  const { id, username } = await findEnabledUser(needs, caller)
  // A user of a provider or passkey may have no password.
  const name = username ?? ''
  const found = await store.read(findCredentials, name)
  const account = { name, user: found?.id === id ? found : undefined }
  const { address } = source
  const attempt = { device: caller.signInId, signal: goneSignal(reply) }
  // It needs no hash.
  refuseFaults(
    await passwordFaults(needs.users, {
      username: name,
      password: newPassword,
      field: 'newPassword',
    }),
  )
  await checkCredentials(needs, account, { password: currentPassword, from: address, ...attempt })
  // With a second factor the sign-in is not fresh: a thief of the password could remove the factor.
  const isProof = caller.proof === 'session' && (await store.read(offeredFactors, id)).length === 0
  const own = rotationOf(needs, request, { isProof })
  const user = { id, username: name, rotation: own.rotation }
  await changePassword({ ...needs.users, source }, user, {
    newPassword,
    attempt: { address, ...attempt },
  })
  return newProof(needs, exchange, own)
}
