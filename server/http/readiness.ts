// Does the service take requests? Its routes and the drain (serve.ts) share the answer.

/**
 * `isKnown`: `/readyz` has responded 200. `askedAt`: its last request since (`performance.now()`).
 * A script stops then; a load balancer goes on.
 */
export type Readiness = { isReady: boolean; isKnown: boolean; askedAt: number }
