// A service whose public URL has a path, behind a proxy that strips that path and refuses every
// other.

import { freePort } from '../network/free-port.ts'
import { startTestService, type TestService } from '../service.ts'
import { type RunningProxy, startProxy } from './proxy.ts'

type BehindPath = { service: TestService; url: string; stop(): Promise<void> }

/** `url` has no slash at its end. A request outside the path gets 404. */
export async function startBehindPath(
  path = '/bell',
  env: Record<string, string> = {},
): Promise<BehindPath> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}${path}`
  const service = await startTestService({ env: { CARILLON_PUBLIC_URL: `${url}/`, ...env } })
  const proxy: RunningProxy = await startProxy(service.url, {
    port,
    onTheWay(passing) {
      passing.path = passing.path.startsWith(`${path}/`)
        ? passing.path.slice(path.length)
        : '/outside-of-the-path'
    },
  })
  return {
    service,
    url,
    async stop() {
      await proxy.stop()
      await service.stop()
    },
  }
}
