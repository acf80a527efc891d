// A sign-in with a provider that has begun in this browser. It is kept in a sealed cookie of that browser, so that nobody else can
// finish it (RFC 6749, section 10.12), and nothing is stored before the provider has said who signs in.
import { randomBytes } from 'node:crypto'
import { equalSecrets, hashOf, type Sealing } from '../basics/secrets.ts'
import { type Bond, flowLifetimeMs } from '../factors/bond.ts'
import type { SignIn } from '../tokens/revocations.ts'
import type { Checks } from './provider.ts'

/** The signed-in user who links an account, instead of a sign-in. */
export type Linking = Required<Pick<SignIn, 'userId' | 'signInId' | 'signedInAt' | 'generation'>> & {
  proof: 'session' | 'access-token'
}

export type Flow = Checks & {
  provider: string
  variant: 'stateful' | 'stateless'
  /** What `returnTo()` accepted. */
  returnTo: string
  expiresAt: number
  /** The SHA-256 of a verifier that the page keeps (RFC 7636, S256): a request that exchanges the code has to bring the verifier. */
  challenge?: string | undefined
  /** The origin of the page that began by a form, if it is not the origin of the service: the request has to come from there. */
  origin?: string
  linking?: Linking
}

/** With new random checks of 32 bytes each. */
export function beginFlow(flow: Omit<Flow, keyof Checks | 'expiresAt'>, now: number): Flow {
  const random = () => randomBytes(32).toString('base64url')
  return { ...flow, state: random(), nonce: random(), verifier: random(), expiresAt: now + flowLifetimeMs }
}

/** Names the cookie of a flow, so that each tab has its own. Not secret. */
export function flowId(state: string): string {
  return state.slice(0, 8)
}

/** Requests of a page on another site bring no cookie: its verifier and its origin take the place of the cookie. */
export function bondOf({ state, challenge, origin }: Flow): Bond {
  const isOfPage = challenge !== undefined && origin !== undefined
  return isOfPage ? { challenge, origin } : { flow: flowId(state), stateHash: hashOf(state), challenge, origin }
}

export function sealFlow(sealing: Sealing, flow: Flow): Promise<string> {
  return sealing.seal('provider-sign-ins', JSON.stringify(flow))
}

/** Undefined if the cookie was not made here, or is too old, or belongs to another flow or provider. */
export async function openFlow(
  sealing: Sealing,
  sealed: string,
  { state, provider, now }: { state: string; provider: string; now: number },
): Promise<Flow | undefined> {
  const text = await sealing.open('provider-sign-ins', sealed)
  const flow: Flow | undefined = text === undefined ? undefined : JSON.parse(text)
  const isThis = flow !== undefined && flow.provider === provider && equalSecrets(flow.state, state)
  return isThis && now < flow.expiresAt ? flow : undefined
}
