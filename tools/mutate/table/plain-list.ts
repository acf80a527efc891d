// The list that is sent before Fastify: what makes a request plain.
import { checksIn } from '../mutation.ts'

const file = 'server/http/plain-list.ts'

export const plainList = [
  ...checksIn('plain list', {
    file,
    tests: ['server/http/plain-list.test.ts'],
    rows: [
      ['a Host that is none is plain', 'host === undefined || !isHost(host)', 'host === undefined'],
      ['every host is known', 'authorization !== undefined || this.#isKnownHost(host)', 'true'],
      ['a field that a check reads is plain', 'checked.has(name) || name in fields', 'name in fields'],
      ['a field may be sent twice', 'checked.has(name) || name in fields', 'checked.has(name)'],
    ],
  }),
  ...checksIn('plain list', {
    file,
    tests: ['tests/api/requests/slow-http.test.ts'],
    rows: [
      ['a pipelined request is plain', " || httpVersion !== '1.1' || socket === null", " || httpVersion !== '1.1'"],
    ],
  }),
  ...checksIn('plain list', {
    file,
    tests: ['tests/e2e/nodes/drain.test.ts'],
    rows: [
      [
        'lists are sent before Fastify while the service drains',
        'raw.url?.startsWith(path) && !isDraining(app)',
        'raw.url?.startsWith(path)',
      ],
    ],
  }),
]
