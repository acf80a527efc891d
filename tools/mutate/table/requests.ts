// What a request must be before a route receives it: addresses, hosts, origins, sites, spelling and bodies.
import { checksIn } from '../mutation.ts'

const address = ['server/http/request/address.test.ts']
const strictJson = ['server/http/request/strict-json.test.ts']
const malformed = ['tests/api/requests/malformed-http.test.ts']
const crossSite = ['tests/api/requests/cross-site.test.ts']
const hosts = ['tests/api/requests/host-names.test.ts']
const spelling = ['tests/api/requests/spelling.test.ts']
const bodies = ['tests/api/requests/checks.test.ts']
const passkeys = ['tests/api/factors/passkeys.test.ts']
const checks = 'server/http/request/checks.ts'

export const requests = [
  ...checksIn('address', {
    file: 'server/http/request/address.ts',
    tests: address,
    rows: [
      [
        'every peer is believed',
        "if (peer === 'unknown' || !isInRanges(peer, trustedProxies)) return",
        "if (peer === 'unknown') return",
      ],
      ['the leftmost entry is believed', 'if (!isTrusted(address)) break', ''],
      [
        'one of two headers that differ is believed',
        'if (other !== undefined && other.address !== traced.address) return',
        'if (false) return',
      ],
      ['a second "for" is believed', 'if (nodes.length > 0) return [undefined]', ''],
      [
        'a broken entry is skipped',
        "if (address === undefined || hops === maxHops) return { ...traced, source: 'unclear' }",
        'if (address === undefined || hops === maxHops) continue',
      ],
    ],
  }),
  ...checksIn('host', {
    file: checks,
    tests: hosts,
    rows: [
      [
        'every name is accepted',
        'if (host === undefined || isKnownHost(host) ||',
        'if (host === undefined || host !== isKnownHost.name ||',
      ],
      [
        'a login with an Authorization field is accepted',
        'authorization !== undefined && (isSafeMethod(request.method) || !isSignIn(request))',
        'authorization !== undefined',
      ],
    ],
  }),
  ...checksIn('host', {
    file: 'server/http/request/origin/known-hosts.ts',
    tests: hosts,
    rows: [['every name is known', 'if (!known.has(name) && !isIP(', 'if (false && !isIP(']],
  }),
  ...checksIn('CORS', {
    file: 'server/http/request/origin/cors.ts',
    tests: ['tests/api/requests/cors.test.ts'],
    rows: [
      [
        'every origin is allowed',
        'if (origin === undefined || !allowed.includes(origin)) return false',
        'if (origin === undefined) return false',
      ],
      ['caches mix origins', "  reply.header('vary', 'Origin')\n", ''],
    ],
  }),
  ...checksIn('cross-site', {
    file: checks,
    tests: crossSite,
    rows: [
      ['every site is accepted', 'if (!comesFromOtherSite(request, allowed)) return', 'if (request) return'],
      [
        'a login is accepted without a cookie',
        'if (!comesWithCookie && !isSignIn(request)) return',
        'if (!comesWithCookie) return',
      ],
      [
        'only a login is refused',
        'if (!comesWithCookie && !isSignIn(request)) return',
        'if (!isSignIn(request)) return',
      ],
    ],
  }),
  ...checksIn('cross-site', {
    file: 'server/http/request/origin/cross-site.ts',
    tests: crossSite,
    rows: [
      [
        'Sec-Fetch-Site is not read',
        "if (fetchSite !== undefined) return fetchSite !== 'same-origin' && fetchSite !== 'none'",
        '',
      ],
      [
        'a sibling host is the same site',
        "fetchSite !== 'same-origin' && fetchSite !== 'none'",
        "fetchSite === 'cross-site'",
      ],
      [
        'Origin is not read',
        'return host === undefined || parsed?.origin !== origin || parsed.host !== host.toLowerCase()',
        'return host === undefined && parsed === null',
      ],
      ['another spelling of an origin is read', 'parsed?.origin !== origin || parsed.host', 'parsed?.host'],
    ],
  }),
  ...checksIn('passkey sign-in', {
    file: checks,
    tests: passkeys,
    rows: [
      [
        'another site signs a browser in',
        "return url === '/login' || url.startsWith('/login/')",
        "return url === '/login'",
      ],
    ],
  }),
  ...checksIn('spelling', {
    file: checks,
    tests: spelling,
    rows: [['every spelling is routed', "if (!url.includes('%')) return", 'if (url) return']],
  }),
  ...checksIn('spelling', {
    file: 'server/http/request/spelling.ts',
    tests: spelling,
    rows: [
      ['an encoded letter is routed', 'return encodedUnreserved.test(path) || (', 'return ('],
      ['an encoded slash is routed', '(encodedSlash.test(path) && !isWithinFreeText(path, route))', 'false'],
      [
        'an encoded slash is routed anywhere',
        'return segments.every((segment, i) => !encodedSlash.test(segment) || pattern[i] === `:${route.freeText}`)',
        'return true',
      ],
    ],
  }),
  ...checksIn('HTTP', {
    file: checks,
    tests: malformed,
    rows: [
      ['another version is accepted', "if (httpVersion !== '1.1' && httpVersion !== '1.0') throw", 'if (false) throw'],
      ['two Host fields are accepted', "if (hosts > 1) throw malformed('Host', 'must be sent once')", ''],
      [
        'two Content-Type fields are accepted',
        "if (types > 1) throw malformed('Content-Type', 'must be sent once')",
        '',
      ],
      ['a Host may be any text', 'else if (!isHost(headers.host)) throw', 'else if (false) throw'],
      [
        'another coding is accepted',
        "if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {",
        'if (false) {',
      ],
      [
        'two hosts that differ are accepted',
        'if (authority === undefined || authority !== host) throw',
        'if (false) throw',
      ],
    ],
  }),
  ...checksIn('body', {
    file: checks,
    tests: bodies,
    rows: [
      [
        'a compressed one is accepted',
        "if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity')",
        'if (false)',
      ],
      ['every charset is accepted', 'if (!/^utf-?8$/i.test(charset)) throw', 'if (false) throw'],
      ['every route accepts a form', 'if (!request.routeOptions.config.operation?.acceptsForm)', 'if (false)'],
    ],
  }),
  ...checksIn('body', {
    file: 'server/http/request/strict-json.ts',
    tests: strictJson,
    rows: [
      ['a key may be there twice', 'if (inspect(value) !== colons) refuse(', 'if (inspect(value) < 0) refuse('],
      [
        'bytes that are no UTF-8 are accepted',
        "if (!isUtf8(bytes)) refuse('is not UTF-8')\n  if (bytes[0]",
        'if (bytes[0]',
      ],
      ['any depth is accepted', 'if (++depth > maxDepth) refuse(', 'if (++depth > 1e6) refuse('],
      ['any number of keys is accepted', 'return count < max ? count + 1 :', 'return count < 1e9 ? count + 1 :'],
      ['NUL is accepted', 'if (unit === 0) refuse(', 'if (unit === -1) refuse('],
      [
        'half a surrogate pair is accepted',
        'if (unit > 0xdbff || next < 0xdc00 || next > 0xdfff) refuse(',
        'if (unit < 0) refuse(',
      ],
      ['a key sets the prototype', "if (Object.hasOwn(fields, '__proto__')) refuse(", 'if (false) refuse('],
      ['a key sets the prototype of the constructor', "if (key === 'constructor' && ", 'if (false && '],
      [
        'a number may be infinite',
        "if (typeof value === 'number' && !Number.isFinite(value)) refuse(",
        'if (false) refuse(',
      ],
      ['a field of a form may be there twice', "if (name in fields) refuse('contains a field twice')", ''],
    ],
  }),
  ...checksIn('return to', {
    file: 'server/http/request/origin/return-to.ts',
    tests: ['server/http/request/origin/return-to.test.ts'],
    rows: [
      [
        'backslashes and line breaks are accepted',
        ' || /[\\\\\\p{C}\\p{Z}]/u.test(text)) return undefined',
        ') return undefined',
      ],
      [
        'two slashes lead to another host',
        "url.origin !== here || text.startsWith('//') || url.pathname.startsWith('//')",
        "url.pathname === 'x'",
      ],
    ],
  }),
]
