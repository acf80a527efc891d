// Under which host names does the service accept requests of a browser? A page of another site can make its own name resolve to this
// machine (DNS rebinding); its scripts then reach the service as their own origin. `Host` still has the other site's name.
import { isIP } from 'node:net'

/** Whether a `Host` field is one of the known names, `localhost`, or an address: rebinding needs a name. */
export type IsKnownHost = (host: string) => boolean

/** `names` are host names without ports. Ports are not compared: a port forward changes them, and rebinding cannot use one. */
export function knownHosts(names: readonly string[]): IsKnownHost {
  const known = new Set(['localhost', ...names.map(normalized)])
  return (host) => {
    const name = normalized(host.replace(/:\d*$/, ''))
    return known.has(name) || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
  }
}

/** DNS compares names without regard to case, and ignores one full stop at the end (RFC 1034, section 3.1). */
function normalized(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}
