// Is the process alive, and is it ready for requests? For supervisors and load balancers.
import type { FastifyReply } from 'fastify'
import { CarillonError } from '../../errors.ts'
import type { Dependencies } from '../dependencies.ts'
import { traceAddress } from '../request/address.ts'
import { sendData } from '../response/send.ts'
import type { GuardedRequest, Operation } from './operation.ts'

export const live: Operation<null> = {
  id: 'getLiveness',
  tag: 'health',
  summary: 'The process is alive',
  responses: { 200: 'HealthResponse' },
  anyHost: true,
  headers: {
    'Carillon-Doctor': 'An address: the response says where the client’s came from, and whether it is this one',
  },
  handle: reportLive,
}

async function reportLive({ trustedProxies }: Dependencies, request: GuardedRequest<null>, reply: FastifyReply) {
  const madeUp = request.headers['carillon-doctor']
  if (madeUp === undefined) return sendData(reply, { status: 'alive' })
  // The address itself is not sent: behind a proxy that is not trusted it would be one of the operator's own network.
  const { address, source, hops } = traceAddress(request.raw, trustedProxies)
  const clientAddress = { source, hops, isMadeUp: source === 'header' && address === madeUp }
  return sendData(reply, { status: 'alive', clientAddress })
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
