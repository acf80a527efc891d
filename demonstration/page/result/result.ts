import { decodeProtectedHeader } from 'jose'
import type { Exchange, Message } from '../../server/api.ts'
import { type Outcome, outcomeOf, renewedFor } from '../experiments/experiments.ts'
import { isOfStore, statusOf } from '../picture/hops.ts'
import { sessionEnds } from '../picture/picture.ts'
import { secondsLeft, withoutSignature } from '../proof/proof-parts.ts'
import {
  dataIn,
  elsewhere,
  type Lane,
  type Request,
  restricted,
  tokenIn,
  type World,
} from '../world.ts'

/** Two experiments with a thief measure all values. */
export type Measured = { stolen?: Outcome; signOut?: Outcome }
export type Finding = {
  measured?: Measured
  keys?: readonly KeyStep[]
  pasted?: string
}

export async function measure(world: World): Promise<Measured> {
  return { stolen: await outcomeOf('stolen', world), signOut: await outcomeOf('signOut', world) }
}

/** `seconds`: how long a copy works. The first of two is longer: it needs renewals. */
export type Theft = {
  lane: Lane
  act: 'unnoticed' | 'signOut'
  at?: 'this' | 'other'
  seconds: number[]
}

export function theftsIn({ stolen, signOut }: Measured): Theft[] {
  const noticed = stolen?.acts[stolen.main]
  const after = signOut?.acts[signOut.main]
  const { allMs, unusedMs } = sessionEnds
  const renewed = stolen ? renewedFor(stolen) : 0
  return [
    { lane: 'session', act: 'unnoticed', seconds: [allMs / 1_000, unusedMs / 1_000] },
    { lane: 'token', act: 'unnoticed', seconds: [renewed, secondsOf(noticed?.token[0])] },
    { lane: 'session', act: 'signOut', at: 'this', seconds: [secondsOf(after?.session[0])] },
    { lane: 'token', act: 'signOut', at: 'this', seconds: [secondsOf(after?.token[0])] },
    { lane: 'token', act: 'signOut', at: 'other', seconds: [secondsOf(after?.token[1])] },
  ]
}

function secondsOf(exchange: Exchange | undefined): number {
  return exchange && statusOf(exchange) < 300 ? secondsLeft(exchange) : 0
}

const requests = 100

/** All requests cost the same, so one is measured: the thief's. A browser sends other cookies. */
export function costsIn({ stolen }: Measured) {
  const costOf = (lane: Lane) => {
    const sent = stolen?.acts[stolen.main]?.[lane][0]
    if (!sent) return { lookUps: 0, kilobytes: 0 }
    const lookUps = requests * sent.steps.filter(isOfStore).length
    const bytes = requests * (lengthOf(sent.request) + lengthOf(sent.response))
    return { lookUps, kilobytes: Math.round(bytes / 1_000) }
  }
  return { session: costOf('session'), token: costOf('token') }
}

/** In bytes on the wire: these messages are ASCII. */
function lengthOf({ line, fields, body }: Message): number {
  const head = [line, ...fields.map((field) => field.join(': '))]
  return [...head, '', body].join('\r\n').length
}

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
  const { token: stolen } = await world.control('forge', {})
  await note('forged', stolen)
  await world.control('drop-key', {})
  await note('dropped', stolen)
  await world.control('read-keys', {})
  await note('reread', stolen)
  await note('none', withoutSignature(own))
  return steps
}
