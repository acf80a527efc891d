// Does the service take requests? Its routes and the drain share the answer.

/**
 * `isKnown`: `/readyz` has responded 200. `askedAt`: its last request since (`performance.now()`).
 * After the first 200 a script stops asking, a load balancer goes on.
 */
export type Readiness = { isReady: boolean; isKnown: boolean; askedAt: number }
