// Ends a sign-in with a provider: by a sign-in, a code for a token, or a linked account.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sourceOf } from '../audit/entry.ts'
import { CarillonError } from '../basics/errors.ts'
import {
  type Bond,
  findChallenge,
  flowLifetimeMs,
  forgetFlow,
  isBound,
  makeChallenge,
} from '../factors/challenges.ts'
import { useChallenge } from '../factors/factors.store.ts'
import { authenticate } from '../guards/guards.ts'
import type { Exchange, GuardedRequest, ProvedFactor, Subject } from '../http/operation.ts'
import { newProof, rotationOf } from '../sessions/own-sign-in.ts'
import { signIn } from '../sign-in/sign-in.ts'
import type { TokenSubject } from '../tokens/access-token.ts'
import { displayUser } from '../users/display-user.ts'
import { readerOf } from '../users/find-user.ts'
import type { User } from '../users/users.store.ts'
import type { Flow, Linking, ProviderNeeds } from './flow.ts'
import * as flows from './flow.ts'
import type { Provider } from './provider.ts'
import {
  linkAccount,
  noActiveUser,
  type SignedIn,
  signInEnded,
  userOfAccount,
} from './provider-accounts.ts'
import type { ProviderCodeBody } from './providers.schemas.ts'

const codeLifetimeMs = 60_000
const purpose = 'provider'

export async function finishFlow(
  needs: ProviderNeeds,
  provider: Provider,
  { request, reply }: Exchange,
): Promise<string> {
  const source = sourceFrom(needs, provider, request)
  const flow = await flows.flowOf(needs, request, provider)
  if (flow === undefined) {
    const problem = `This sign-in did not begin in this browser in the last ${flowLifetimeMs / 60_000} minutes`
    const remedy = `Begin again at ${needs.site.publicUrl()}/login/with/${provider.setting.name}.`
    throw new CarillonError('INVALID_REQUEST', problem, { remedy })
  }
  const { search } = new URL(request.url, 'http://localhost')
  const response = new URL(flows.redirectUri(needs, provider) + search)
  const forget = () => forgetFlow(needs, reply, flows.flowId(flow.state))
  let user: User | undefined
  try {
    const signedIn = { provider, identity: await provider.identify(response, flow), source }
    if (flow.linking === undefined) user = await userOfAccount(needs, signedIn)
    const next = await finishSignIn(needs, { flow, user, signedIn }, { request, reply })
    // The cookie will prove that this browser may use the code or challenge.
    if (next === undefined || flows.bondOf(flow).flow === undefined) forget()
    else await flows.keepFlow(needs, reply, flow)
    return next === undefined
      ? flow.returnTo
      : `${flow.returnTo.replace(/#.*/, '')}#${new URLSearchParams(next)}`
  } catch (error) {
    forget()
    const account = { name: source.actor, user }
    throw needs.signInLog.noted(error, source, {
      account,
      variant: flow.variant,
      method: 'provider',
    })
  }
}

/** Without a user, a refusal has a hash of the provider's name. */
function sourceFrom(needs: ProviderNeeds, { setting }: Provider, request: FastifyRequest) {
  return { ...sourceOf(needs, request), actor: `provider:${setting.name}` }
}

type Finished = { flow: Flow; user: User | undefined; signedIn: SignedIn }

async function finishSignIn(
  needs: ProviderNeeds,
  { flow, user, signedIn }: Finished,
  exchange: Exchange,
) {
  if (flow.linking !== undefined)
    return finishLinking(needs, { flow, signedIn }, flow.linking, exchange)
  if (user === undefined || user.disabledAt !== null) throw noActiveUser(signedIn.provider)
  const { factor } = signedIn.identity
  if (flow.variant === 'stateless')
    return codeFor(needs, flow, { userId: user.id, generation: user.credentialGeneration, factor })
  try {
    const { source } = signedIn
    const facts = {
      variant: 'stateful',
      method: 'provider',
      source,
      factor,
      bond: flows.bondOf(flow),
    } as const
    await signIn(needs, user, facts, exchange)
    return undefined
  } catch (error) {
    const { secondFactor, code } = error as Partial<CarillonError>
    if (secondFactor !== undefined)
      return { challenge: secondFactor.challenge, factors: secondFactor.factors.join(' ') }
    throw code === 'INVALID_CREDENTIALS' ? noActiveUser(signedIn.provider) : error
  }
}

/** No URL may have a token, so the page gets a code for it. */
async function finishLinking(
  needs: ProviderNeeds,
  { flow, signedIn }: Pick<Finished, 'flow' | 'signedIn'>,
  linking: Linking,
  { request, reply }: Exchange,
) {
  const caller = await callerOf(needs, request, linking)
  const presented = { caller, raw: request.raw }
  const own = rotationOf(needs, presented)
  const outcome = await linkAccount(needs, signedIn, own.rotation)
  if (outcome === 'unchanged') return undefined
  if (caller.proof === 'access-token') {
    const { userId } = caller
    return codeFor(needs, flow, { userId, generation: linking.generation })
  }
  await newProof(needs, { request: presented, reply }, own)
  return undefined
}

type Coding = Pick<CodeData, 'generation' | 'factor'> & { userId: string }

async function codeFor(needs: ProviderNeeds, flow: Flow, { userId, generation, factor }: Coding) {
  const data: CodeData = {
    provider: flow.provider,
    generation,
    factor,
    rotated: flow.linking?.caller,
    ...flows.bondOf(flow),
  }
  return {
    'sign-in-code': await makeChallenge(needs, {
      userId,
      purpose,
      data,
      lifetimeMs: codeLifetimeMs,
    }),
  }
}

type Coded = {
  provider: Provider
  request: GuardedRequest<null, unknown, ProviderCodeBody>
  reply: FastifyReply
}

export async function exchangeCode(
  needs: ProviderNeeds,
  { provider, request, reply }: Coded,
): Promise<object> {
  const source = sourceFrom(needs, provider, request)
  let user: User | undefined
  try {
    const code = await userOfCode(needs, { provider, request, reply })
    user = code.user
    if (code.rotated !== undefined) {
      const issued = await needs.accessTokens.rotated(code.rotated as TokenSubject, user, {
        confirmedAt: null,
      })
      return { User: displayUser(user), ...issued, variant: 'stateless' }
    }
    const facts = { variant: 'stateless', method: 'provider', source, factor: code.factor } as const
    return await signIn(needs, user, facts, { request, reply })
  } catch (error) {
    const account = { name: source.actor, user }
    throw needs.signInLog.noted(error, source, {
      account,
      variant: 'stateless',
      method: 'provider',
    })
  }
}

async function userOfCode(needs: ProviderNeeds, { provider, request, reply }: Coded) {
  const { code, verifier } = request.body
  const found = await findChallenge(needs, code, purpose)
  const data = found?.data as CodeData | undefined
  if (found === undefined || data?.provider !== provider.setting.name) throw invalidCode()
  if (!(await isBound(needs, request, { ...data, verifier }))) throw invalidCode()
  const used = await needs.store.write(useChallenge, { ...found.key, at: needs.users.now() })
  const user = await readerOf(needs, used && found.key)
  if (user?.credentialGeneration !== data.generation) throw invalidCode()
  forgetFlow(needs, reply, data.flow)
  return { user, rotated: data.rotated, factor: data.factor }
}

type CodeData = Bond & {
  provider: string
  generation: number
  factor?: ProvedFactor | undefined
  rotated: Subject | undefined
}

/** One error for every invalid code. */
function invalidCode(): CarillonError {
  const problem =
    'This code is not valid here: it was used, has expired, or belongs to another browser or page'
  return new CarillonError('INVALID_CREDENTIALS', problem, { remedy: 'Sign in again.' })
}

async function callerOf(needs: ProviderNeeds, request: FastifyRequest, { caller: begun }: Linking) {
  if (begun.proof === 'access-token') {
    const subject = { ...begun, expiresAt: Number.POSITIVE_INFINITY } as TokenSubject
    if (needs.accessTokens.validUntil(subject) === null) throw signInEnded()
    return subject
  }
  const caller = await authenticate(needs, request)
  // A session's token could not give the browser its next cookie.
  const isSame =
    caller?.userId === begun.userId &&
    caller.signInId === begun.signInId &&
    caller.proof === begun.proof
  if (!isSame || caller.scope !== undefined) throw signInEnded()
  return caller
}
