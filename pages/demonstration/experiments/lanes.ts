// What most experiments do in both lanes: sign in, and present the proof at the restricted route, where the check of a token needs no
// read of the store.
import type { Lane, Request, Sent, World } from '../world.ts'
import { type Fact, factOf, isAccepted, type Measurements } from './experiment.ts'

/** A new sign-in in both lanes, and both proofs accepted, so that a later refusal has one cause. */
export async function signedIn(world: World): Promise<Measurements> {
  await signIn(world)
  return present(world, 'before')
}

export async function signIn(world: World): Promise<void> {
  for (const lane of ['session', 'token'] as const) {
    const { status } = await world.signIn(lane)
    if (status !== 200) throw new Error(`the sign-in in the lane ${lane} got ${status}`)
  }
}

/** `token`: another one than that of the last sign-in. */
export async function present(world: World, label: Fact['label'], token = world.token): Promise<Measurements> {
  const session = await presentIn(world, 'session')
  const kept = world.token
  world.token = token
  try {
    const stateless = await presentIn(world, 'token')
    return { session: measuredBy(label, session), token: measuredBy(label, stateless) }
  } finally {
    world.token = kept
  }
}

export function presentIn(world: World, lane: Lane): Promise<Sent> {
  return world.send(lane, { method: 'GET', path: '/routeRestreinte' })
}

function measuredBy(label: Fact['label'], sent: Sent) {
  return { answer: isAccepted(sent.status), facts: [factOf(label, sent)] }
}

/** The facts of both, in this order, with the answers of `measured`. */
export function joined(before: Measurements, after: Measurements, measured = after): Measurements {
  const join = (lane: Lane) => ({ ...measured[lane], facts: [...before[lane].facts, ...after[lane].facts] })
  return { session: join('session'), token: join('token') }
}

/** The same request in both lanes, as a fact without an answer. */
export async function sentInBoth(world: World, label: Fact['label'], request: Request): Promise<Measurements> {
  const session = factOf(label, await world.send('session', request))
  const token = factOf(label, await world.send('token', request))
  return { session: { answer: null, facts: [session] }, token: { answer: null, facts: [token] } }
}

/** The public keys of the service, which anyone may read. */
export function publicKeys(world: World): Promise<Sent> {
  return world.send('token', { method: 'GET', path: '/.well-known/jwks.json', isWithoutProof: true })
}
