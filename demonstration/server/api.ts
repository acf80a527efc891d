// What the page of the demonstration sends and gets. All addresses are below `demonstration/`, relative to the page:
//
//   POST visits                 a new world for this browser: 201 with its `Visit`, and its cookie
//   GET  visit                  the present `Visit`
//   GET  exchanges/:n           an `Exchange`, by the field `Carillon-Exchange` of its response
//   POST controls/:action       changes the world (controls.ts), such as `advance` with `{ seconds: 960 }`
//   *    service/...            the product itself
//   GET  other-server/me        another server, with only the public key, which reads `Authorization` alone
//   *    servers/:way/me        five servers behind a balancer, in turn; the way is `memory`, `store` or `key`.
//                               GET checks the proof. POST with the way `memory` signs in at one of the five (a cookie of its own)
//   GET  other-site?visit=ID    a page that posts a form to the world; only at the visit's `otherSite`
//
// Requests without a cookie name the world with the field `Carillon-Visit`, which proves nothing. Responses with data are
// `{ success: true, data }`, failures `{ success: false, error: { code, message } }` as those of the service.

export type Target = 'service' | 'other-server' | 'servers'

/**
 * A row of `session`, or of `revocation`, also in the memory of this server. Secrets are hashes.
 */
export type Row = { table: string; columns: Readonly<Record<string, string | number | null>> }

/** Order and spelling are those of the wire. */
export type Message = {
  line: string
  fields: readonly (readonly [name: string, value: string])[]
  body: string
}

/**
 * `detail`: `found`, `none` or `failed`, never a value. `signatures.check` alone has `algorithm`
 * and `kid`, and `valid`, `invalid` or `expired`.
 */
export type Step = { name: string; detail: string; algorithm?: string; kid?: string }

export type Exchange = {
  n: number
  /**
   * `thief`: another browser at another address. `script`: the page says so of its foreign script;
   * for the server it was the browser.
   */
  by: 'browser' | 'thief' | 'other-site' | 'script'
  to: Target
  /** 1 to 5 behind the balancer; null for other requests. */
  server: number | null
  /** Milliseconds since 1970, by the world's clock. */
  at: number
  request: Message
  /** Empty until the response begins. */
  response: Message
  steps: readonly Step[]
  rows: readonly Row[]
}

export type Visit = {
  id: string
  user: { username: string; password: string }
  cookieName: string
  base: string
  /** Null if this service has one public name. */
  otherSite: string | null
}
