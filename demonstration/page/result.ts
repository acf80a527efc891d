// The measured values of both variants, the address that has them, and the life of a key. It knows no HTML.
import { secondsLeft } from './experiments.ts'
import { statusOf } from './picture.ts'
import { withoutSignature } from './proof-parts.ts'
import { dataIn, elsewhere, type Lane, lanes, type Request, restricted, signOutRequest, type World } from './world.ts'

/** `stolen`: seconds until a copy is useless after the sign-out, at this server. `elsewhere`: at the other server; it never accepts a cookie. */
export type Values = Record<(typeof names)[number], number>
type Measurement = Readonly<Record<Lane, Values>>
/** `isShared`: the values came with the link. */
export type Finding = { measurement?: Measurement; isShared?: boolean; keys?: readonly KeyStep[] }

const names = ['lookUps', 'bytes', 'ms', 'stolen', 'elsewhere'] as const

/** The fragment of a result: `#result?session=100,51200,0.4,0,0&token=...`. */
export function fragmentOf(measurement: Measurement): string {
  const values = lanes.map((lane) => `${lane}=${names.map((name) => measurement[lane][name]).join(',')}`)
  return `#result?${values.join('&')}`
}

/** Undefined if the fragment has no values, or others than numbers: anyone can write a link. */
export function measurementIn(fragment: string): Measurement | undefined {
  const query = new URLSearchParams(fragment.split('?')[1])
  const [session, token] = lanes.map((lane) => valuesIn(query.get(lane) ?? ''))
  return session && token && { session, token }
}

function valuesIn(text: string): Values | undefined {
  const numbers = text.split(',').map(Number)
  if (numbers.length !== names.length || !numbers.every((value) => value >= 0)) return undefined
  return Object.fromEntries(names.map((name, at) => [name, numbers[at]])) as Values
}

/** 100 requests in each lane; then a thief copies both proofs, and the user signs out. */
export async function measure(world: World): Promise<Measurement> {
  await world.fresh()
  await world.signInBoth()
  const { token = '' } = world
  const measured = {
    session: await world.control('measure', { proof: 'session', path: restricted.path }),
    token: await world.control('measure', { proof: 'token', path: restricted.path, token }),
  }
  await world.steal()
  for (const lane of lanes) await world.send(lane, signOutRequest)
  const valuesOf = async (lane: Lane): Promise<Values> => ({
    ...measured[lane],
    stolen: await secondsOfThief(world, lane, restricted),
    elsewhere: await secondsOfThief(world, lane, elsewhere),
  })
  return { session: await valuesOf('session'), token: await valuesOf('token') }
}

/** How long the copy still works there: not at all if it is refused, otherwise as long as its token says. */
async function secondsOfThief(world: World, proof: Lane, request: Request): Promise<number> {
  const exchange = await world.byThief(proof, request)
  return statusOf(exchange) < 300 ? secondsLeft(exchange) : 0
}

type KeyEvent = 'one' | 'overlap' | 'forged' | 'dropped' | 'reread' | 'none'
/** What each server responds, and the keys in the key set at that moment. */
type KeyStep = { event: KeyEvent; here: number; there: number; kids: readonly string[] }

/** The life of a key: one key, a second one beside it, a stolen one, the stolen one dropped, and a token without a signature. */
export async function keyStory(world: World): Promise<KeyStep[]> {
  await world.fresh()
  await world.signIn('token')
  const own = world.token ?? ''
  const steps: KeyStep[] = []
  const note = async (event: KeyEvent, token: string) => {
    const keySet = await world.send('token', { path: 'service/.well-known/jwks.json', hasProof: false })
    const { keys = [] } = dataIn<{ keys: { kid: string }[] }>(keySet)
    const here = await world.send('token', { ...restricted, token })
    const there = await world.send('token', { ...elsewhere, token })
    steps.push({ event, here: statusOf(here), there: statusOf(there), kids: keys.map((key) => key.kid) })
  }
  await note('one', own)
  await world.control('rotate-key', {})
  await world.control('read-keys', {})
  await note('overlap', own)
  const { token: stolen, kid } = await world.control('forge', { username: 'admin' })
  await note('forged', stolen)
  await world.control('drop-key', { kid })
  await note('dropped', stolen)
  await world.control('read-keys', {})
  await note('reread', stolen)
  await note('none', withoutSignature(own))
  return steps
}
