// After a right password, factor or passkey, sign-in.ts goes on. Every refusal is recorded.
import { recorded, sourceOf } from '../audit/entry.ts'
import { refusalCode } from '../audit/sign-in-log.ts'
import { invalidCredentials, notAuthenticated, secondFactorRequired } from '../basics/errors.ts'
import { forgetFlow } from '../factors/challenges.ts'
import type { SecondFactorBody } from '../factors/factors.schemas.ts'
import { offeredFactors } from '../factors/factors.store.ts'
import type { FactorNeeds } from '../factors/factors.ts'
import type { Assertion } from '../factors/passkeys/ceremonies.ts'
import { namedUser, usePasskey } from '../factors/passkeys/passkeys.ts'
import { presentedFactor, proveFactor } from '../factors/prove-factor.ts'
import { knownDevice, presentedDevices } from '../guessing/device-tokens.ts'
import type { Exchange, Guarded, Subject } from '../http/operation.ts'
import { goneSignal } from '../http/response/send.ts'
import { type NewProof, newProof, rotationOf } from '../sessions/own-sign-in.ts'
import { rotateSignIn } from '../users/access/rotation.store.ts'
import { checkCredentials, findAccount } from '../users/credentials.ts'
import { findEnabledUser } from '../users/find-user.ts'
import { findCredentials, findUser, type User } from '../users/users.store.ts'
import type { LoginBody } from './sign-in.schemas.ts'
import { factorOf, findWaiting, type SignInNeeds, signIn, type Variant } from './sign-in.ts'

export async function signInByPassword(needs: SignInNeeds, body: LoginBody, exchange: Exchange) {
  const { request, reply } = exchange
  const { variant = needs.site.variant, username, password } = body
  const source = sourceOf(needs, request)
  const turn = { address: source.address, signal: goneSignal(reply) }
  const presented = presentedDevices(needs, request)
  const deviceOf = (user: User | undefined) => knownDevice(needs, presented, user)
  const account = await findAccount(needs, username, (user) => deviceOf(user) !== undefined)
  const device = deviceOf(account.user)
  try {
    const user = await checkCredentials(needs, account, { password, device, ...turn })
    await needs.guesses.beginSignIn({ userId: user.id, address: source.address }, 'password')
    return await signIn(needs, user, { variant, method: 'password', source }, exchange)
  } catch (error) {
    throw needs.signInLog.noted(error, source, { account, variant, method: 'password' })
  }
}

export async function signInByFactor(
  needs: SignInNeeds,
  body: SecondFactorBody,
  exchange: Exchange,
) {
  const { request, reply } = exchange
  const { challenge: text, ...given } = body
  const { signInLog } = needs
  const source = sourceOf(needs, request)
  const presented = presentedFactor(given)
  const { method } = presented
  const { user, variant, challenge, bond, factor } = await findWaiting(needs, text, request).catch(
    (error: unknown) => {
      // An ended challenge proves nothing about its user.
      throw signInLog.noted(error, source, { account: { name: '', user: undefined }, method })
    },
  )
  const device = knownDevice(needs, presentedDevices(needs, request), user)
  try {
    const guesser = { account: user.id, address: source.address, device }
    await proveFactor(needs, presented, { userId: user.id, request, source, guesser, challenge })
    const completed = await signIn(needs, user, { variant, method, source, factor }, exchange)
    forgetFlow(needs, reply, bond?.flow)
    return completed
  } catch (error) {
    throw signInLog.noted(error, source, {
      account: { name: user.username ?? user.id, user },
      variant,
      method,
    })
  }
}

export async function signInByPasskey(
  needs: SignInNeeds,
  { variant, response }: { variant: Variant; response: Assertion },
  exchange: Exchange,
) {
  const { request } = exchange
  const source = sourceOf(needs, request)
  try {
    const guesser = { address: source.address }
    const user = await usePasskey(needs, response, { request, source, guesser })
    return await signIn(needs, user, { variant, method: 'passkey', source }, exchange)
  } catch (error) {
    const name = namedUser(response) ?? ''
    // The failure matters more than its user's name.
    const isUser = name !== '' && refusalCode(error) !== undefined
    const user = isUser ? await needs.store.read(findUser, name).catch(() => undefined) : undefined
    throw needs.signInLog.noted(error, source, {
      account: { name, user },
      variant,
      method: 'passkey',
    })
  }
}

type Presented = Omit<SecondFactorBody, 'challenge'> & { password?: string }

/** Returns the next proof. Throws the refusals of POST /api/me/confirm. */
export async function confirmSignIn(
  needs: FactorNeeds,
  { password, ...body }: Presented,
  exchange: Guarded<Subject>,
): Promise<NewProof> {
  const { request, reply } = exchange
  const { userId, signInId } = request.caller
  const { store } = needs
  const source = sourceOf(needs, request)
  const signal = goneSignal(reply)
  const user = await findEnabledUser(needs, request.caller)
  const presented =
    password === undefined ? presentedFactor(body) : { method: 'password' as const, password }
  const facts = {
    event: 'confirmed',
    userId,
    signInId,
    detail: { method: presented.method },
  } as const
  const own = rotationOf(needs, request, { isProof: true, factor: factorOf(presented.method) })
  const { rotation } = own
  // Beyond the limit of changes, a confirmation uses nothing up.
  const { audit } = recorded({ ...needs.users, source }, facts)
  if (presented.method === 'password') {
    const name = user.username ?? ''
    const found = await store.read(findCredentials, name)
    // The user has no password, or the name is now another's.
    if (found?.id !== userId) throw invalidCredentials()
    const attempt = { password: presented.password, signal, device: signInId, from: source.address }
    await checkCredentials(needs, { name, user: found }, attempt)
    // A thief of the password could remove a factor (OWASP ASVS 5.0, 7.5.1).
    const factors = await store.read(offeredFactors, userId)
    if (factors.length > 0) throw secondFactorRequired({ challenge: '', factors })
    if ((await store.write(rotateSignIn, { rotation, audit })) === 'outdated')
      throw notAuthenticated()
  } else {
    const guesser = { account: userId, device: signInId }
    await proveFactor(needs, presented, { userId, request, source, guesser, rotation, audit })
  }
  return newProof(needs, exchange, own)
}
