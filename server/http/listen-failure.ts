import { isIPv6 } from 'node:net'
import { unavailable } from '../basics/errors.ts'

type Place = { host: string; port: number; settings: string }

export function listenFailure(cause: unknown, { host, port, settings }: Place): unknown {
  const place = `${isIPv6(host) ? `[${host}]` : host}:${port}`
  const setHost = `Set ${settings}HOST to one that is`
  const reasons: Record<string, [problem: string, remedy: string]> = {
    EADDRINUSE: [
      `${place} is taken by another program`,
      `Stop that one, or set ${settings}PORT to a free port, and start again: nothing is lost.`,
    ],
    EACCES: [`This user may not listen on ${place}`, `Set ${settings}PORT to a port from 1024 on.`],
    EADDRNOTAVAIL: [`${host} is not an address of this machine`, `${setHost}.`],
    ENOTFOUND: [
      `${host} is not a name that this machine can resolve`,
      `${setHost}, or to an address.`,
    ],
  }
  const [problem, remedy] = reasons[(cause as NodeJS.ErrnoException).code ?? ''] ?? []
  return problem === undefined ? cause : unavailable(problem, remedy)
}
