import { CarillonError } from '../basics/errors.ts'
import { commit, version } from '../basics/version.ts'
import { component, dataOf, example, string } from './openapi/schema.ts'
import { forAnyone } from './operation.ts'
import type { Readiness } from './readiness.ts'
import { sendData } from './response/send.ts'

const Liveness = component('Liveness', {
  status: example(string(), 'alive'),
  version: example(string(), '0.1.0'),
  commit: example(string(), '1d0a5ab7c3f2'),
})

export const live = forAnyone({
  summary: 'The process is alive, and which version it is',
  responses: { 200: dataOf(Liveness) },
  anyHost: true,
  async handle(_, _request, reply) {
    return sendData(reply, { status: 'alive', version, commit: commit() })
  },
})

export const ready = forAnyone({
  summary: 'The service takes requests: it is not stopping and its store works',
  responses: { 200: dataOf(component('Health', { status: example(string(), 'ready') })) },
  refusals: ['UNAVAILABLE'],
  anyHost: true,
  async handle(
    { readiness, store }: { readiness: Readiness; store: { check(): Promise<void> } },
    _,
    reply,
  ) {
    if (readiness.isKnown) readiness.askedAt = performance.now()
    const problem = 'The service is not ready: it is starting or stopping'
    if (!readiness.isReady) throw new CarillonError('UNAVAILABLE', problem, { report: 'nothing' })
    await store.check()
    readiness.isKnown = true
    return sendData(reply, { status: 'ready' })
  },
})
