// Serves in the process of the test what the process of the demonstration serves, with a clock that
// the test sets.
import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveDemonstration } from '../../../demonstration/server/serve.ts'
import { passedField } from '../../../server/demonstration/pass-on.ts'
import { responseOf } from '../http/http-client.ts'
import type { HttpResponse } from '../service.ts'
import { Visitor } from './visitor.ts'

const secret = 'a-secret-between-two-processes'

type Init = { method?: string; headers?: Record<string, string>; body?: string }

export async function demonstrationHere() {
  let time = 0
  const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  const sources = { wall: () => Date.UTC(2026, 0, 1) + time, monotonic: () => time }
  const settings = {
    secret,
    folder,
    url: 'http://127.0.0.1:7464',
    prefix: '',
    hosts: ['127.0.0.1'],
    hstsSubdomains: false,
    places: 10,
  }
  const hashCost = { memoryCost: 8, timeCost: 1 }
  const { port, end } = await serveDemonstration(settings, { folder, ...sources }, hashCost)

  /** `facts`: what the service would add, with its secret. */
  function send(
    path: string,
    facts: string | undefined,
    init: RequestInit = {},
  ): Promise<HttpResponse> {
    const { method = 'GET', headers: given = {}, body } = init as Init
    const length = method === 'GET' ? [] : ['content-length', String(Buffer.byteLength(body ?? ''))]
    const fields = ['host', '127.0.0.1:7464', ...Object.entries(given).flat(), ...length]
    const headers = facts === undefined ? fields : [...fields, passedField, facts]
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest({ host: '127.0.0.1', port, path, method, headers }, (incoming) =>
        resolve(responseOf(incoming)),
      )
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }

  return {
    send,
    folder,
    pass: (ms: number) => {
      time += ms
    },
    /** A visitor with that address, who has not started yet. */
    from: (address: string) =>
      new Visitor({ request: (path, init) => send(path, `${secret} ${address}`, init) }),
    async stop() {
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
