// What the page can change in a world: its clock, its database and its keys; and what others do in it, such as a thief.
import { Agent } from 'node:http'
import { auditEntry, serviceSource } from '../../server/audit/entry.ts'
import { CarillonError, conflict, invalidField } from '../../server/basics/errors.ts'
import { newId } from '../../server/basics/ids.ts'
import { sessionSecret } from '../../server/http/request/credentials.ts'
import { sealingSecrets } from '../../server/start/sealing-secret.ts'
import { makeSigningKey, sealingOf, signToken } from '../../server/tokens/key-material.ts'
import { lastOf, publishedAheadMs } from '../../server/tokens/key-schedule.ts'
import { claimsOf } from '../../server/tokens/read-token.ts'
import { addSigningKey, dropSigningKey, signingKeys } from '../../server/tokens/signing-keys.store.ts'
import { rotated } from '../../server/tokens/signing-keys.ts'
import type { Action } from './api.ts'
import { measure, type Sent, send } from './client.ts'
import type { ComposedService } from './compose-world.ts'
import type { World } from './world.ts'

const day = 24 * 3_600
const [maxAdvance, maxOutage] = [35 * day, 10]
const tokenLifeMs = 15 * 60_000
/** The address is for documentation only (RFC 5737). */
const thief = {
  address: '203.0.113.66',
  userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0',
}

/** The fields of the body. */
export type Wanted = Readonly<Record<string, unknown>>
/** `way`: where this process reaches a path of the world, and the facts that let a request through (requests.ts). */
type Place = {
  cookieHeader: string | undefined
  host: string
  way: { sentTo: (path: string) => URL; facts: (address: string, by: string) => string }
}
type Control = (world: World, wanted: Wanted, place: Place) => Promise<object> | object

const controls: { readonly [Name in Exclude<Action, 'reset'>]: Control } = {
  advance(world, wanted) {
    world.request()
    world.offsetMs += numberOf(wanted, 'seconds', { min: 1, max: maxAdvance }) * 1_000
    return { now: world.now, offsetMs: world.offsetMs }
  },

  outage(world, wanted) {
    world.request()
    const seconds = numberOf(wanted, 'seconds', { min: 0, max: maxOutage })
    if (seconds === 0) world.outage.stop()
    else world.outage.begin(seconds, world.options.wall())
    return { endsAt: world.outage.endsAt }
  },

  async deliver(world, wanted) {
    const { deliveries } = world.request().service
    const request = { recipients: [{ userId: world.userId }], title: textOf(wanted, 'title', 200) }
    return { id: (await deliveries.deliver('demonstration', request)).results[0]?.id ?? '' }
  },

  steal(world, wanted, { cookieHeader }) {
    const session = sessionOf(world, cookieHeader)
    const token = wanted.token === undefined ? undefined : textOf(wanted, 'token', 4_000)
    world.stolen = { ...(session && { session }), ...(token && { token }) }
    return {}
  },

  thief(world, wanted, place) {
    const fields = ['User-Agent', thief.userAgent, ...proofFields(world, wanted, world.stolen)]
    const facts = place.way.facts(thief.address, 'thief')
    return onConnection(async (agent) => {
      const { n, status } = await send(
        { ...sentOf(world, wanted, place), facts, fields: [...fieldsOf(world, place), ...fields] },
        agent,
      )
      return { n, status }
    })
  },

  measure(world, wanted, place) {
    const proofs = { session: sessionOf(world, place.cookieHeader), token: wanted.token }
    const fields = [...fieldsOf(world, place), ...proofFields(world, wanted, proofs)]
    const facts = place.way.facts('127.0.0.1', 'machine')
    const sent = { ...sentOf(world, wanted, place), method: 'GET', fields, facts }
    return onConnection((agent) => measure(sent, agent, () => world.reads))
  },

  async 'rotate-key'(world) {
    const { service } = world.request()
    const { store, keys } = service
    const at = service.now()
    const { key, known } = await newKey(service, at + publishedAheadMs)
    const { kid, startsAt } = key
    const audit = [rotated(serviceSource, { at, kid, startsAt })]
    await store.write(addSigningKey, { key, after: lastOf(known)?.kid ?? null, audit })
    await until(() => !keys.isDropped(kid))
    return { kid, startsAt }
  },

  forge(world, wanted) {
    const { keys, config, now } = world.request().service
    const at = now()
    const user = { userId: newId(at), username: textOf(wanted, 'username', 60) }
    const signIn = { ...user, signInId: newId(at), signedInAt: at, generation: 0 }
    const claims = claimsOf(signIn, { issuer: config.publicUrl as string, at, endsAt: at + tokenLifeMs })
    const key = keys.current
    return { token: signToken(key, claims), kid: key.kid }
  },

  async 'drop-key'(world, wanted) {
    const { service } = world.request()
    const { store, keys } = service
    const kid = textOf(wanted, 'kid', 100)
    const at = service.now()
    const { key } = await newKey(service, at)
    const audit = [
      auditEntry(serviceSource, { event: 'signing-key-dropped', at, detail: { kid, replacedBy: key.kid } }),
    ]
    if ((await store.write(dropSigningKey, { kid, key, audit })) === 'absent')
      throw new CarillonError('NOT_FOUND', 'There is no such key')
    await until(() => keys.isDropped(kid) && !keys.isDropped(key.kid))
    return { kid }
  },

  async 'read-keys'(world) {
    const [other] = world.request().others
    await other?.reload()
    return { kids: other?.rows.flatMap(({ columns }) => columns.kid ?? []) ?? [] }
  },
}

/** Throws INVALID_REQUEST for an unknown action or a wrong field. `reset` is not among them: its response is the state of the world. */
export async function act(world: World, wanted: Wanted, place: Place): Promise<object> {
  const { action } = wanted
  if (typeof action !== 'string' || !Object.hasOwn(controls, action))
    throw invalidField('action', 'must be one of the controls')
  return controls[action as keyof typeof controls](world, wanted, place)
}

async function newKey({ store, config, now }: ComposedService, startsAt: number) {
  const known = await store.read(signingKeys)
  const sealing = await sealingOf(await sealingSecrets(config, store), known)
  return { known, key: await makeSigningKey(sealing, { createdAt: now(), startsAt }) }
}

/** The service learns of a change of its keys by a signal. */
async function until(isDone: () => boolean): Promise<void> {
  for (let waited = 0; !isDone() && waited < 2_000; waited += 5) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** The session cookie of the request, which no script can read. */
function sessionOf({ options }: World, cookieHeader: string | undefined): string | undefined {
  return sessionSecret(cookieHeader, options.cookies.cookie.name) || undefined
}

/** Throws CONFLICT without such a proof. */
function proofFields({ options }: World, wanted: Wanted, proofs: { session?: unknown; token?: unknown }): string[] {
  const proof = wanted.proof === 'session' ? proofs.session : proofs.token
  if (proof === undefined) throw conflict('There is no such proof to send', 'Sign in first.')
  return wanted.proof === 'session'
    ? ['Cookie', `${options.cookies.cookie.name}=${proof}`]
    : ['Authorization', `Bearer ${proof}`]
}

function fieldsOf({ options }: World, { host }: Place): string[] {
  return ['Host', host, 'Accept', '*/*', 'Carillon-Visit', options.id]
}

async function onConnection<Result>(work: (agent: Agent) => Promise<Result>): Promise<Result> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return work(agent).finally(() => agent.destroy())
}

function sentOf(world: World, wanted: Wanted, { way }: Place): Pick<Sent, 'method' | 'url'> {
  world.request()
  const path = textOf(wanted, 'path', 200)
  if (!/^(service|other-server|servers)\/[\w/-]+$/.test(path)) throw invalidField('path', 'must be that of a server')
  const isPost = wanted.method === 'POST'
  return { method: isPost ? 'POST' : 'GET', url: way.sentTo(path) }
}

function textOf(wanted: Wanted, name: string, max: number): string {
  const value = wanted[name]
  // No line break: some values become header fields.
  if (typeof value === 'string' && value.length > 0 && value.length <= max && !/[^\x20-\uffff]/.test(value))
    return value
  throw invalidField(name, `must be a text of at most ${max} characters`)
}

function numberOf(wanted: Wanted, name: string, { min, max }: { min: number; max: number }): number {
  const value = wanted[name]
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number
  throw invalidField(name, `must be a whole number from ${min} to ${max}`)
}
