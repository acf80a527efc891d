// What the page of the demonstration sends and gets. All addresses are below `demonstration/`, relative to the page:
//
//   POST visits                 a new world for this browser, in place of the one that it has: 201 with its `Visit`, and its cookie
//   GET  visit                  the present `Visit`
//   GET  exchanges/:n           an `Exchange`, by the number in the field `Carillon-Exchange` of its response
//   POST controls/:action       changes the world: see controls.ts, `advance` with `{ seconds: 960 }`
//   *    service/...            this server: the product itself
//   GET  other-server/me        another server, which has only the public key. It reads `Authorization` alone
//   *    servers/:way/me        five servers behind a balancer, in turn; the way is `memory`, `store` or `key`.
//                               GET checks the proof. POST with the way `memory` signs in at one of the five (a cookie of its own)
//   GET  other-site?visit=ID    a page that posts a form to the world; only at the address `otherSite` of the visit
//
// Requests without a cookie name the world with the field `Carillon-Visit`, which proves nothing. Responses with data are
// `{ success: true, data }`, failures `{ success: false, error: { code, message } }` as those of the service.

/** `service`: this server. Its first part is the address below `demonstration/`. */
export type Target = 'service' | 'other-server' | 'servers'

/**
 * A row of the user in the database: of `session`, or of `token_cutoff` (the list of revoked sign-ins, of which this server has a copy
 * in memory). Secrets are in it as they are stored: as hashes.
 */
export type Row = { table: string; columns: Readonly<Record<string, string | number | null>> }

/** Order and spelling of the fields are those of the wire. */
export type Message = { line: string; fields: readonly (readonly [name: string, value: string])[]; body: string }

/**
 * A call of a part of the server, such as `store.findSession`. `detail`: `found`, `none` or `failed`, never a value. At `signatures.check`,
 * which alone has `algorithm` and `kid`, it is `valid`, `invalid`, or `expired`: the signature is valid, and the time is over.
 */
export type Step = { name: string; detail: string; ms: number; algorithm?: string; kid?: string }

export type Exchange = {
  n: number
  /** `thief`: another browser at another address, which has only what it copied. `other-site`: the form of another site. */
  by: 'browser' | 'thief' | 'other-site'
  to: Target
  /** The number, 1 to 5, of the server behind the balancer that had the request; null for other requests. */
  server: number | null
  /** By the clock of the world, in milliseconds since 1970. */
  at: number
  request: Message
  /** The line is empty until the response has begun. */
  response: Message
  steps: readonly Step[]
  /** As soon as the response is sent. */
  rows: readonly Row[]
}

export type Visit = {
  id: string
  user: { username: string; password: string }
  /** The name of the session's cookie in this world, and the path of all its cookies. */
  cookieName: string
  base: string
  /** The origin that stands for another site, such as `http://localhost:7464`; null if this service has one public name. */
  otherSite: string | null
}
