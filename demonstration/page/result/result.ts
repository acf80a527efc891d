// The measured values, the address that has them, and the life of a key. It knows no HTML.
import { decodeProtectedHeader } from 'jose'
import { renewedByThief } from '../experiments/experiments.ts'
import { statusOf } from '../picture/hops.ts'
import { sessionEnds } from '../picture/picture.ts'
import { secondsLeft, withoutSignature } from '../proof/proof-parts.ts'
import {
  dataIn,
  elsewhere,
  type Lane,
  lanes,
  type Request,
  restricted,
  signOutRequest,
  tokenIn,
  type World,
} from '../world.ts'

/**
 * Seconds for which a copy works. `stolen`: after the sign-out, at this server; `elsewhere`: then
 * at the other one; `unused`: nobody notices the theft; `renewed`: the thief renews the copy, too.
 */
export type Values = Record<(typeof names)[number], number>
export type Measurement = Readonly<Record<Lane, Values>>
/** `isShared`: the values came with the link. */
export type Finding = {
  measurement?: Measurement
  isShared?: boolean
  keys?: readonly KeyStep[]
  pasted?: string
}

const names = ['lookUps', 'kilobytes', 'stolen', 'elsewhere', 'unused', 'renewed'] as const

/** `#result?session=100,51,0,0,604800,2592000&token=...` */
export function fragmentOf(measurement: Measurement): string {
  const values = lanes.map(
    (lane) => `${lane}=${names.map((name) => measurement[lane][name]).join(',')}`,
  )
  return `#result?${values.join('&')}`
}

/** Undefined without valid numbers: anyone can write a link. */
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

export function readLink(result: Finding, fragment: string): void {
  const measurement = measurementIn(fragment)
  if (!measurement || (result.measurement && fragmentOf(result.measurement) === fragment)) return
  Object.assign(result, { measurement, isShared: true })
}

export async function measure(world: World): Promise<Measurement> {
  await world.fresh()
  await world.signInBoth()
  const untilSignOut = async (lane: Lane) => {
    const cost = { proof: lane, path: restricted.path, token: world.token ?? '-' }
    const { lookUps, bytes } = await world.control('measure', cost)
    await world.steal()
    await world.send(lane, signOutRequest)
    return {
      lookUps,
      kilobytes: Math.round(bytes / 1_000),
      stolen: await secondsOfThief(world, lane, restricted),
      elsewhere: await secondsOfThief(world, lane, elsewhere),
    }
  }
  const session = await untilSignOut('session')
  const token = await untilSignOut('token')
  await world.signInBoth()
  await world.steal()
  const unused = await secondsOfThief(world, 'token', restricted)
  const { seconds: renewed } = await renewedByThief(world)
  return {
    session: {
      ...session,
      unused: sessionEnds.unusedMs / 1000,
      renewed: sessionEnds.allMs / 1000,
    },
    token: { ...token, unused, renewed },
  }
}

/** 0 if the copy is refused, otherwise as long as its token says. */
async function secondsOfThief(world: World, proof: Lane, request: Request): Promise<number> {
  const exchange = await world.byThief(proof, request)
  return statusOf(exchange) < 300 ? secondsLeft(exchange) : 0
}

/** `here`, `there`: the statuses of this server and of the other one. */
export type KeyStep = {
  event: 'one' | 'overlap' | 'forged' | 'dropped' | 'reread' | 'none'
  here: number
  there: number
  kids: readonly string[]
  signing: string
}

export async function keyStory(world: World): Promise<KeyStep[]> {
  await world.fresh()
  await world.signIn('token')
  const own = world.token ?? ''
  const keySet: Request = { path: 'service/.well-known/jwks.json', hasProof: false }
  const steps: KeyStep[] = []
  const note = async (event: KeyStep['event'], token: string) => {
    const { keys = [] } = dataIn<{ keys: { kid: string }[] }>(await world.send('token', keySet))
    const here = await world.send('token', { ...restricted, token })
    const there = await world.send('token', { ...elsewhere, token })
    const { kid = '' } = decodeProtectedHeader(tokenIn(await world.signIn('token')) ?? '')
    steps.push({
      event,
      here: statusOf(here),
      there: statusOf(there),
      kids: keys.map((key) => key.kid),
      signing: kid,
    })
  }
  await note('one', own)
  await world.control('rotate-key', {})
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
