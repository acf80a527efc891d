// How does the abort of a caller's signal reach what is under way? Through signals of our own: a runtime's fetch leaves
// its listeners on the signal it is given until they are collected, and a caller's may live as long as the page.

/** Runs `work` with a controller that follows `signal`, and leaves nothing on `signal` when it is done. */
export async function following<Result>(
  signal: AbortSignal | undefined,
  work: (own: AbortController) => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted()
  const own = new AbortController()
  const unfollow = follow(signal, own)
  try {
    return await work(own)
  } finally {
    unfollow()
  }
}

/** As `following`, for `ms` milliseconds at most: then `work` is aborted for `late`. */
export function within<Result>(
  { ms, signal, late }: { ms: number; signal: AbortSignal | undefined; late: unknown },
  work: (own: AbortController) => Promise<Result>,
): Promise<Result> {
  // By a timer: browsers that lack `AbortSignal.any` share streams too.
  return following(signal, async (own) => {
    const timer = setTimeout(() => own.abort(late), ms)
    try {
      return await work(own)
    } finally {
      clearTimeout(timer)
    }
  })
}

/** Aborts `own` when `signal` does, until the returned function is called. */
export function follow(signal: AbortSignal | undefined, own: AbortController): () => void {
  const abort = () => own.abort(signal?.reason)
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)
  return () => signal?.removeEventListener('abort', abort)
}

/** Settles as `promise` does, or rejects with the reason of `signal` as soon as that aborts. */
export function unlessAborted<Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    void promise.then(resolve, reject).then(() => signal.removeEventListener('abort', abort))
  })
}

/** A wait that can be cut short from outside, by calling what `offer` is given. Rejects with the reason of `signal`. */
export async function pause(ms: number, signal: AbortSignal, offer = (_cut: () => void) => {}): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
    offer(resolve)
  })
  try {
    await unlessAborted(over, signal)
  } finally {
    clearTimeout(timer)
  }
}

/** For a loop that may be left while it waits: `return()`, which a generator puts off until then, calls `leave` first. */
export function leavable<Event>(events: AsyncGenerator<Event, void>, leave: () => void): AsyncIterableIterator<Event> {
  return {
    next: () => events.next(),
    return() {
      leave()
      return events.return()
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
