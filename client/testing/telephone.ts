// A process in which the client finds what React Native has: signals without a reason and
// `throwIfAborted`, listeners without `signal`, a fetch that follows every redirect and returns a
// response without a `body`. Prints a line for each new snapshot.
import { createCarillon } from '../carillon-client.ts'

const [baseUrl = '', token = ''] = process.argv.slice(2)
const { AbortController: RealController, Response: RealResponse } = globalThis

class Signal extends EventTarget {
  aborted = false
  override addEventListener(
    type: string,
    listener: EventListener,
    options?: { once?: boolean },
  ): void {
    super.addEventListener(type, listener, { once: options?.once ?? false })
  }
}

class Controller {
  readonly signal = new Signal()
  abort(): void {
    if (this.signal.aborted) return
    this.signal.aborted = true
    this.signal.dispatchEvent(new Event('abort'))
  }
}

async function fetchAll(url: string, { signal, ...init }: RequestInit): Promise<Response> {
  const real = new RealController()
  signal?.addEventListener('abort', () => real.abort())
  const response = await realFetch(url, { ...init, redirect: 'follow', signal: real.signal })
  const text = await response.text()
  const { ok, status, headers, url: last } = response
  return { ok, status, headers, url: last, text: async () => text } as Response
}

const realFetch = globalThis.fetch
Object.assign(globalThis, {
  AbortController: Controller,
  Response: class {},
  fetch: fetchAll,
})
if ('body' in Response.prototype || !('body' in RealResponse.prototype))
  throw new Error('Nothing is imitated')

const carillon = createCarillon({ baseUrl, auth: () => token })
const list = carillon.inbox.open()
const show = () => {
  const { state, unread, items, error } = list.getSnapshot()
  const line = { state, unread, titles: items.map(({ title }) => title), error: error?.code }
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
list.subscribe(show)
process.on('message', async (act: string) => {
  if (act === 'readAll') await list.readAll()
  if (act === 'abort') {
    const controller = new AbortController()
    const call = carillon.inbox.counts({ signal: controller.signal })
    controller.abort()
    const thrown = await call.catch((error: Error) => error.name)
    process.stdout.write(`${JSON.stringify({ thrown })}\n`)
  }
  if (act !== 'close') return
  list.close()
  process.disconnect?.()
})
