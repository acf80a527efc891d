// How a handler answers: finished JSON text goes out as it is, everything else through these few.
import type { FastifyReply } from 'fastify'
import type { User } from '../../store/store.ts'
import { iso } from '../../times.ts'

const jsonType = 'application/json; charset=utf-8'

export function sendJson(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('content-type', jsonType).send(text)
}

export function sendObject(reply: FastifyReply, value: unknown): FastifyReply {
  return sendJson(reply, JSON.stringify(value))
}

/** `{ success, data }`, the shape of every success beyond the seed. */
export function sendData(reply: FastifyReply, data: unknown): FastifyReply {
  return sendObject(reply, { success: true, data })
}

export function sendNothing(reply: FastifyReply): FastifyReply {
  return reply.code(204).send()
}

/** The seed's `User`, as it is shown: no hash, no state. */
export function shownUser({ id, username, displayName, createdAt }: User) {
  return { id, username, displayName, createdAt: iso(createdAt) }
}
