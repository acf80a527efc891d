// Passes requests below `/demonstration/service` to the service of the visitor's world, after the request checks and before the body is
// read, so that the world reads it itself. These are no routes of this service, so they are not in the table.
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sessionSecret } from '../http/request/credentials.ts'
import { Body } from './body.ts'
import { noSuchVisit } from './visits.ts'
import type { World } from './world.ts'
import type { Worlds } from './worlds.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const notPassed = () => Promise.reject(noSuchVisit())

export function addWorlds(app: FastifyInstance, prefix: string, open: () => Promise<Worlds>): void {
  const place = `${prefix}/demonstration/service`
  const bodies = new WeakMap<IncomingMessage, Body>()
  // Before the request checks: Node passes on what arrives of the body meanwhile.
  app.server.prependListener('request', (raw: IncomingMessage) => {
    if (raw.url?.includes(place)) bodies.set(raw, copyOfBody(raw))
  })
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    const body = bodies.get(request.raw)
    if (body !== undefined) await passOn({ request, reply, place, open, body })
  }
  app.route({ method: [...methods], url: `${place}/*`, onRequest, handler: notPassed })
}

type Passed = { request: FastifyRequest; reply: FastifyReply; place: string; open: () => Promise<Worlds>; body: Body }

async function passOn({ request: { raw }, reply, place, open, body }: Passed): Promise<void> {
  const url = raw.url ?? ''
  const target = targetOf(raw.method, url.slice(url.indexOf(place) + place.length))
  const world = worldOf(await open(), raw, target.visit)
  const connection = reply.getHeader('connection')
  if (connection !== undefined) reply.raw.setHeader('Connection', connection)
  world.serve(raw, reply.raw, { target: target.path, body, isFramed: target.visit !== undefined })
  reply.hijack()
}

/** What arrives of a body, also if nothing reads it. */
function copyOfBody(raw: IncomingMessage): Body {
  const body = new Body()
  const { push } = raw
  raw.push = (chunk, encoding) => {
    body.add(chunk, encoding)
    return push.call(raw, chunk, encoding)
  }
  return body
}

/**
 * The form of another site can send no field, and the browser no cookie with it: it names the world in the query. Not with GET: a link would
 * lead other visitors, with all their cookies, into the transcript of who made it.
 */
function targetOf(method: string | undefined, target: string): { path: string; visit: string | undefined } {
  const [, path, visit] = (method === 'POST' && /^([^?]*)\?visit=([\w-]{1,32})$/.exec(target)) || []
  return { path: path ?? target, visit }
}

/** The id in the field or in the query, otherwise the visitor's cookie. Throws NOT_FOUND. */
function worldOf(worlds: Worlds, { headers }: IncomingMessage, inQuery: string | undefined): World {
  const id = headers['carillon-visit'] ?? inQuery
  const { name } = worlds.visitCookie
  const world = typeof id === 'string' ? worlds.ofId(id) : worlds.ofSecret(sessionSecret(headers.cookie, name))
  if (world === undefined) throw noSuchVisit()
  return world
}
