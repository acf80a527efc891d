// Does the service take requests? Its routes and the drain (serve.ts) share the answer.

/** `isKnown`: `/readyz` has responded 200. `askedAt`: the last request (`performance.now()`). */
export type Readiness = { isReady: boolean; isKnown: boolean; askedAt: number }
