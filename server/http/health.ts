// Is the process alive, and should it be sent requests? For supervisors and load balancers.
import { CarillonError } from '../errors.ts'
import type { Store } from '../store/store.ts'
import { sendData } from './answers.ts'
import type { Operation } from './operation.ts'

/** `isReady` turns false when the service drains; `askedAt`, by `performance.now()`, is when somebody last asked. */
export type Readiness = { isReady: boolean; askedAt: number }

export function healthOperations({ store, readiness }: { store: Pick<Store, 'check'>; readiness: Readiness }) {
  const live: Operation<null> = {
    summary: 'The process answers',
    answers: { 200: ['Health'] },
    anyHost: true,
    handle: async (_, _request, reply) => sendData(reply, { status: 'alive' }),
  }
  const ready: Operation<null> = {
    summary: 'The service takes requests: it is not stopping and its store works',
    answers: { 200: ['Health'], 503: ['Error'] },
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
