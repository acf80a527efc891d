import type { Exchange } from '../server/api.ts'

/** Without fields, bodies, steps and rows. */
export const bareExchange: Exchange = {
  n: 1,
  by: 'browser',
  to: 'service',
  server: null,
  at: 0,
  request: { line: 'GET / HTTP/1.1', fields: [], body: '' },
  response: { line: 'HTTP/1.1 200 OK', fields: [], body: '' },
  steps: [],
  rows: [],
}
