// Is the process alive, and should it be sent requests? For supervisors and load balancers.
import { CarillonError } from '../../errors.ts'
import type { AddressRange } from '../../ip-addresses.ts'
import type { Store } from '../../store/store.ts'
import { traceAddress } from '../request/address.ts'
import { sendData } from '../response/send.ts'
import type { Operation } from './operation.ts'

/** `isReady` turns false when the service drains; `askedAt`, by `performance.now()`, is when somebody last asked. */
export type Readiness = { isReady: boolean; askedAt: number }

type Parts = { store: Pick<Store, 'check'>; readiness: Readiness; signIn: { trustedProxies: readonly AddressRange[] } }

export function healthOperations({ store, readiness, signIn: { trustedProxies } }: Parts) {
  const live: Operation<null> = {
    summary: 'The process answers',
    responses: { 200: ['Health'] },
    anyHost: true,
    headers: {
      'Carillon-Doctor': 'An address: the answer says where the client’s came from, and whether it is this one',
    },
    async handle(_, { headers, raw }, reply) {
      const madeUp = headers['carillon-doctor']
      if (madeUp === undefined) return sendData(reply, { status: 'alive' })
      // No address is told: behind a proxy that is not trusted it would be one of the operator's own network.
      const { address, source, hops } = traceAddress(raw, trustedProxies)
      const clientAddress = { source, hops, isMadeUp: source === 'header' && address === madeUp }
      return sendData(reply, { status: 'alive', clientAddress })
    },
  }
  const ready: Operation<null> = {
    summary: 'The service takes requests: it is not stopping and its store works',
    responses: { 200: ['Health'], 503: ['Error'] },
    anyHost: true,
    async handle(_, _request, reply) {
      readiness.askedAt = performance.now()
      if (!readiness.isReady)
        throw new CarillonError('UNAVAILABLE', 'The service is not ready: it is starting or stopping', {
          report: 'nothing',
        })
      await store.check()
      return sendData(reply, { status: 'ready' })
    },
  }
  return { live, ready }
}
