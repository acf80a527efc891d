// Listens on this machine for what the service passes on (api.ts). The request checks run again,
// without the additions of service and proxies.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CarillonError } from '../../server/basics/errors.ts'
import { createLog } from '../../server/basics/log.ts'
import { otherSiteOf } from '../../server/demonstration/other-site-of.ts'
import { passedField } from '../../server/demonstration/pass-on.ts'
import { open } from '../../server/guards/guards.ts'
import { createApp } from '../../server/http/app.ts'
import {
  forAnyone,
  type Guard,
  operationFor,
  route,
  routesAt,
} from '../../server/http/operation.ts'
import { sessionSecret, setCookie } from '../../server/http/request/credentials.ts'
import { sendData } from '../../server/http/response/send.ts'
import { type HashCost, Passwords } from '../../server/passwords/passwords.ts'
import { siteOf } from '../../server/start/site.ts'
import type { Target, Visit } from './api.ts'
import { controls } from './controls.ts'
import { otherSite } from './other-site.ts'
import type { ChildSettings } from './settings.ts'
import { type Body, copyOfBody, takeFacts } from './transcript.ts'
import { configOf, type Passed, type Way, type World, type WorldOptions } from './world.ts'
import { Worlds } from './worlds.ts'

type Needs = { worlds: Worlds }
/** Only this process can send as anybody else than the browser. */
type Known = { body: Body; by: Passed['by'] }
type Sources = Pick<WorldOptions, 'folder' | 'wall' | 'monotonic'>

const targets: readonly Target[] = ['service', 'other-server', 'servers']
const forVisit = operationFor<World>()
const created = { 201: 'json' } as const
const found = { 200: 'json' } as const

const ofVisit: Guard<Needs, World> = {
  name: 'visitor',
  refusals: ['NOT_FOUND'],
  async admit({ worlds }, { raw }) {
    const world = ownWorld(worlds, raw)
    // Another tab started again.
    const named = raw.headers['carillon-visit'] ?? world?.options.id
    if (world === undefined || named !== world.options.id) throw noSuchVisit()
    return world
  },
}

const start = forAnyone({
  summary: 'Starts a world for this browser, in place of the one that it has',
  takesLong: true,
  responses: created,
  // Another site's page must not take places.
  signsIn: true,
  async handle({ worlds }: Needs, { raw }, reply) {
    const { world, secret } = await worlds.open(ownWorld(worlds, raw))
    setCookie(reply, worlds.visitCookie, secret)
    return sendData(reply.code(201), stateOf(world, raw))
  },
})

const state = forVisit({
  summary: 'The present state of a world',
  responses: found,
  handle: async (_: Needs, { raw, caller }, reply) => sendData(reply, stateOf(caller, raw)),
})

const exchange = forVisit({
  summary: 'An exchange, by its number',
  responses: found,
  handle: async (_: Needs, { caller, params }, reply) =>
    sendData(reply, caller.exchange(Number(params.n))),
})

function changing(name: string) {
  const { body, act } = controls[name as keyof typeof controls]
  return forVisit({
    summary: 'Changes a world',
    body,
    bodyLimit: 8 * 1024,
    responses: found,
    async handle(_: Needs, { raw, caller, body: wanted }, reply) {
      caller.request()
      return sendData(reply, (await act(caller, wanted as never, raw)) ?? {})
    },
  })
}

const routesBelow = (place: string) =>
  routesAt(place, {
    inbox: {
      start: route('POST', '/visits', open, start),
      state: route('GET', '/visit', ofVisit, state),
      exchange: route('GET', '/exchanges/:n', ofVisit, exchange),
      otherSite: route('GET', '/other-site', open, otherSite),
      ...Object.fromEntries(
        Object.keys(controls).map((name) => [
          name,
          route('POST', `/controls/${name}`, ofVisit, changing(name)),
        ]),
      ),
    },
  })

export async function serveDemonstration(
  settings: ChildSettings,
  sources: Sources,
  cost?: HashCost,
) {
  const place = `${settings.prefix}/demonstration`
  // The service keeps its connections: one that ends would fail a request on its way.
  const server = createServer({ keepAliveTimeout: 0 }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const way: Way = {
    urlOf: (path) => new URL(`http://127.0.0.1:${port}${place}/${path}`),
    fieldsOf: (address, by) => ({ [passedField]: `${settings.secret} ${address} ${by}` }),
  }
  const log = await createLog({ level: 'silent', isTerminal: false })
  const worlds = new Worlds({
    ...sources,
    settings,
    log,
    passwords: new Passwords({ threads: 1, cost }),
    way,
  })
  const config = configOf(settings)
  const site = siteOf(config, () => config.publicUrl)
  const app = createApp<Needs>({ routes: routesBelow(place), parts: { worlds }, site, log })
  const known = new WeakMap<IncomingMessage, Known>()
  const pass = async ({ raw }: FastifyRequest, reply: FastifyReply) => {
    const { body, by } = known.get(raw) as Known
    const url = raw.url ?? ''
    const [, to, rest = ''] = url.slice(url.indexOf(place) + place.length).split(/^\/([\w-]+)/)
    const { path, visit } = targetOf(raw.method, rest)
    const id = raw.headers['carillon-visit'] ?? visit
    const world = typeof id === 'string' ? worlds.ofId(id) : ownWorld(worlds, raw)
    if (world === undefined) throw noSuchVisit()
    await world.serve([raw, reply.raw], {
      to: to as Target,
      path,
      body,
      by: visit === undefined ? by : 'other-site',
    })
    reply.hijack()
  }
  const method = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
  const passed = {
    method,
    config: { isPassedOn: true },
    onRequest: pass,
    handler: noSuchVisit,
  } as const
  for (const to of targets) app.route({ ...passed, url: `${place}/${to}/*` })
  await app.ready()

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    // The transcript copies the body before it arrives, also if nothing reads it.
    const body = copyOfBody(request)
    const [address, by = 'browser'] = takeFacts(request, settings.secret) ?? []
    if (address === undefined) return void response.writeHead(403).end()
    known.set(request, { body, by: by as Passed['by'] })
    Object.defineProperty(request.socket, 'remoteAddress', { value: address, configurable: true })
    app.routing(request, response)
  })
  const end = async () => {
    await worlds.end()
    await app.close()
    server.close()
    server.closeAllConnections()
  }
  return { port, end }
}

function ownWorld(worlds: Worlds, { headers }: IncomingMessage): World | undefined {
  return worlds.ofSecret(sessionSecret(headers.cookie, worlds.visitCookie.name))
}

function stateOf(world: World, { headers: { host = '' } }: IncomingMessage): Visit {
  const { id, user, cookies } = world.options
  const { name: cookieName, path: base } = cookies.cookie
  return { id, user, cookieName, base, otherSite: otherSiteOf(host) }
}

/**
 * Another site's form has neither field nor cookie, so the query names the world. Only with POST: a
 * link could bring the cookies of other visitors into the transcript of its author.
 */
function targetOf(
  method: string | undefined,
  target: string,
): { path: string; visit: string | undefined } {
  const [, path, visit] = (method === 'POST' && /^([^?]*)\?visit=([\w-]{1,32})$/.exec(target)) || []
  return { path: path ?? target, visit }
}

function noSuchVisit(): CarillonError {
  const remedy = 'Start one: POST demonstration/visits.'
  return new CarillonError('NOT_FOUND', 'This browser has no demonstration, or it has ended', {
    remedy,
  })
}
