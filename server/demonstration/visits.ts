// The demonstration as its page uses it: start a world, read its state and its transcript, and change what happens in it. The page itself
// is in routes/pages/; the requests that it shows go to the world (world-service.ts). No application uses these routes, so the published
// description of the API does not have them.
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { CarillonError, conflict, invalidField, noSuchRoute } from '../basics/errors.ts'
import { iso } from '../basics/times.ts'
import { open } from '../guards/guards.ts'
import { integer, object, oneOf, optional, type TypeOf, text } from '../http/openapi/schema.ts'
import { type Exchange, forAnyone, type Route, route, routesAt } from '../http/operation.ts'
import { addressOf } from '../http/request/address.ts'
import { sessionSecret, setCookie } from '../http/request/credentials.ts'
import { sendData } from '../http/response/send.ts'
import type { Site } from '../http/site.ts'
import type { World } from './world.ts'
import type { Worlds } from './worlds.ts'

/** `demonstration`: opens the worlds. Their code is loaded at the first call. Undefined if there is no demonstration. */
export type DemonstrationNeeds = {
  demonstration: (() => Promise<Worlds>) | undefined
  site: Site
  users: { now: () => number }
}

const start = forAnyone({
  summary: 'Start a demonstration, or start it again: a temporary service with a user of its own',
  // It needs no proof: a page of another site must not take the places.
  signsIn: true,
  responses: { 201: 'json' },
  refusals: ['NOT_FOUND', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
  async handle(dependencies: DemonstrationNeeds, request, reply) {
    const address = addressOf(request.raw, dependencies.site.trustedProxies)
    const worlds = await worldsOf(dependencies)
    const { world, secret } = await worlds.open(address, ownWorld(worlds, request))
    setCookie(reply, worlds.visitCookie, secret)
    return sendData(reply.code(201), displayVisit(dependencies, worlds, world))
  },
})

const visit = forAnyone({
  summary: 'The state of the demonstration of this browser, and what its server keeps now',
  responses: { 200: 'json' },
  refusals: ['NOT_FOUND'],
  async handle(dependencies: DemonstrationNeeds, request, reply) {
    const { worlds, world } = await worldOf(dependencies, request)
    const { now, outageEndsAt, ...state } = world.state
    const times = { now: iso(now), outageEndsAt: outageEndsAt === null ? null : iso(outageEndsAt) }
    return sendData(reply, { ...displayVisit(dependencies, worlds, world), ...times, ...state })
  },
})

function displayVisit({ users }: DemonstrationNeeds, worlds: Worlds, world: World) {
  const { id, credentials, hasTrace, cookies } = world.options
  const expiresAt = iso(users.now() + worlds.remainingMs(world))
  const { name: cookieName, path: base } = cookies.cookie
  return { id, user: credentials, expiresAt, hasTrace, cookieName, base }
}

const exchange = forAnyone({
  summary:
    'One request of the demonstration and its response as they were on the wire, with what the server did and kept',
  responses: { 200: 'json' },
  refusals: ['NOT_FOUND'],
  async handle(dependencies: DemonstrationNeeds, request, reply) {
    const { world } = await worldOf(dependencies, request)
    const { n } = request.params
    return sendData(reply, await world.exchange(Number(n)))
  },
})

const day = 24 * 3_600
const limits = { outage: 10, advance: 35 * day } as const
const DemonstrationControl = object({
  action: oneOf(['restart', 'outage', 'advance', 'change-cookie', 'copy-cookie', 'put-cookie', 'revoke', 'deliver']),
  seconds: optional(integer({ minimum: 1, maximum: limits.advance })),
  title: optional(text(1, 200)),
})
type DemonstrationControl = TypeOf<typeof DemonstrationControl>

const control = forAnyone({
  summary: 'Restart the server of the demonstration, take its database away, advance its clock, and more',
  body: DemonstrationControl,
  responses: { 200: 'json' },
  refusals: ['NOT_FOUND', 'CONFLICT', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
  async handle(dependencies: DemonstrationNeeds, request, reply) {
    const { world } = await worldOf(dependencies, request)
    const wanted = request.body
    return sendData(reply, { action: wanted.action, ...(await act(world, wanted, { request, reply })) })
  },
})

async function act(world: World, wanted: DemonstrationControl, exchanged: Exchange): Promise<object> {
  switch (wanted.action) {
    case 'restart':
      return world.restart()
    case 'outage': {
      const seconds = secondsOf(wanted, limits.outage)
      return { seconds, endsAt: iso(world.outage(seconds)) }
    }
    case 'advance': {
      const seconds = secondsOf(wanted, limits.advance)
      const { now, offsetMs } = world.advance(seconds)
      return { seconds, now: iso(now), offsetMs }
    }
    case 'change-cookie':
      return changeCookie(world, exchanged)
    case 'copy-cookie':
      world.copiedSecret = presentedSecret(world, exchanged)
      return {}
    case 'put-cookie':
      return putCookie(world, exchanged)
    case 'revoke':
      await world.revokeAll()
      return {}
    case 'deliver':
      if (wanted.title === undefined) throw invalidField('title', 'is missing')
      return { id: await world.deliver(wanted.title) }
  }
}

function secondsOf({ seconds }: DemonstrationControl, max: number): number {
  if (seconds !== undefined && seconds <= max) return seconds
  throw invalidField('seconds', `must be a whole number from 1 to ${max}`)
}

/** The session cookie of the request, which no script can read. Throws CONFLICT if there is none. */
function presentedSecret(world: World, { request }: Exchange): string {
  const secret = sessionSecret(request.raw.headers.cookie, world.options.cookies.cookie.name)
  if (secret !== null && secret !== '') return secret
  throw conflict('There is no session cookie to change or to copy', 'Sign in first.')
}

/** As a thief who copied the cookie puts it into a browser. Throws CONFLICT without a copy. */
function putCookie({ options, copiedSecret }: World, { reply }: Exchange): object {
  if (copiedSecret === undefined) throw conflict('There is no copy of a session cookie', 'Make one: copy-cookie.')
  setCookie(reply, options.cookies.cookie, copiedSecret)
  return {}
}

/** Only the server can: no script can set the cookie. */
function changeCookie(world: World, exchanged: Exchange) {
  const { cookie } = world.options.cookies
  const secret = presentedSecret(world, exchanged)
  // In the random part, and not its last character, some of whose bits count for nothing.
  const position = secret.length - 20
  const from = secret.charAt(position)
  const to = from === 'A' ? 'B' : 'A'
  setCookie(exchanged.reply, cookie, secret.slice(0, position) + to + secret.slice(position + 1))
  return { cookieName: cookie.name, position, from, to }
}

/** Sends the form at once. It has no other script, and the policy names this one by its hash. */
const script = 'document.forms[0].submit()'
const scriptHash = createHash('sha256').update(script).digest('base64')

const targets = { logout: 'logout', 'read-all': 'api/notifications/read-all' } as const
const OtherSiteQuery = object({
  target: oneOf(['logout', 'read-all']),
  visit: text(1, 32),
})

/**
 * A page that stands for another site: the demonstration shows it in a frame with an origin of its own (`sandbox` without
 * `allow-same-origin`), and it posts a form to the visitor's world, as a page of an attacker would.
 */
const otherSite = forAnyone({
  summary: 'A page that posts a form to the demonstration, for a frame with another origin',
  query: OtherSiteQuery,
  responses: { 200: 'html' },
  async handle(_, request, reply) {
    const { target, visit: id } = request.query
    if (!/^[\w-]+$/.test(id)) throw invalidField('visit', 'must be the id of a visit')
    // 'self' of a framed page with an opaque origin is the origin of its address (CSP3, section 6.7.2.8).
    const policy =
      `default-src 'none'; script-src 'sha256-${scriptHash}'; form-action 'self'; ` +
      "frame-ancestors 'self'; base-uri 'none'; sandbox allow-forms allow-scripts"
    return reply
      .header('content-security-policy', policy)
      .type('text/html; charset=utf-8')
      .send(
        `<!doctype html><html lang="en"><title>Another site</title><form method="post" action="service/${targets[target]}?visit=${id}"></form><script>${script}</script></html>`,
      )
  },
})

export function demonstrationRoutes(prefix: string): Route<DemonstrationNeeds>[] {
  return routesAt(`${prefix}/demonstration`, {
    pages: {
      startDemonstration: route('POST', '/visits', open, start),
      getDemonstration: route('GET', '/visit', open, visit),
      getExchange: route('GET', '/exchanges/:n', open, exchange),
      controlDemonstration: route('POST', '/controls', open, control),
      getOtherSite: route('GET', '/other-site', open, otherSite),
    },
  })
}

/** The world of the visitor, by the cookie. Throws NOT_FOUND, also if the page names another one: another tab has started again. */
async function worldOf(
  dependencies: DemonstrationNeeds,
  request: FastifyRequest,
): Promise<{ worlds: Worlds; world: World }> {
  const worlds = await worldsOf(dependencies)
  const world = ownWorld(worlds, request)
  const named = request.headers['carillon-visit'] ?? world?.options.id
  if (world === undefined || named !== world.options.id) throw noSuchVisit()
  return { worlds, world }
}

function ownWorld(worlds: Worlds, { raw }: FastifyRequest): World | undefined {
  return worlds.ofSecret(sessionSecret(raw.headers.cookie, worlds.visitCookie.name))
}

function worldsOf({ demonstration }: DemonstrationNeeds): Promise<Worlds> {
  if (demonstration === undefined) throw noSuchRoute()
  return demonstration()
}

export function noSuchVisit(): CarillonError {
  return new CarillonError('NOT_FOUND', 'This browser has no demonstration, or it has ended', {
    remedy: 'Start one: POST demonstration/visits.',
  })
}
