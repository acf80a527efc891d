// Does the service take requests? Its routes and the drain share the answer.

/**
 * `isKnown`: `/readyz` has responded 200. `askedAt`: its last request since (`performance.now()`):
 * a load balancer goes on, a script stops.
 */
export type Readiness = { isReady: boolean; isKnown: boolean; askedAt: number }
