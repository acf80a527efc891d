// Connects log lines with a request's trace in other systems (W3C Trace Context, section 3.2).
import { BoundedCache } from './bounded-cache.ts'

const maxTraces = 10_000
/** Versions after 00 may append parts. */
const traceparent =
  /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:$|(?<!^00.{53})-)/

const traces = new BoundedCache<string>(maxTraces)

/** `text`: the header field of a trusted proxy. */
export function noteTrace(requestId: string, text: unknown): void {
  const [, traceId] = traceparent.exec(String(text)) ?? []
  if (traceId !== undefined) traces.set(requestId, traceId, 1)
}

export function traceOf(requestId: string): string | undefined {
  return traces.get(requestId)
}
