// Is the process alive, and is it ready for requests? For supervisors and load balancers.
import type { FastifyReply } from 'fastify'
import { CarillonError } from '../../errors.ts'
import type { Dependencies } from '../dependencies.ts'
import { sendData } from '../response/send.ts'
import type { GuardedRequest, Operation } from './operation.ts'

export const live: Operation<null> = {
  id: 'getLiveness',
  tag: 'health',
  summary: 'The process is alive',
  responses: { 200: 'HealthResponse' },
  anyHost: true,
  handle: reportLive,
}

async function reportLive(_: Dependencies, _request: GuardedRequest<null>, reply: FastifyReply) {
  return sendData(reply, { status: 'alive' })
}

export const ready: Operation<null> = {
  id: 'getReadiness',
  tag: 'health',
  summary: 'The service takes requests: it is not stopping and its store works',
  responses: { 200: 'HealthResponse' },
  refusals: ['UNAVAILABLE'],
  anyHost: true,
  handle: reportReady,
}

export async function reportReady({ readiness, store }: Dependencies, _: GuardedRequest<null>, reply: FastifyReply) {
  readiness.askedAt = performance.now()
  if (!readiness.isReady)
    throw new CarillonError('UNAVAILABLE', 'The service is not ready: it is starting or stopping', {
      report: 'nothing',
    })
  await store.check()
  return sendData(reply, { status: 'ready' })
}
