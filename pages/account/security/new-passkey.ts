// Can this browser create a passkey at this address, and if not, where? add-passkey.ts creates it.
import { hasPasskeys } from '../passkeys.ts'

/** `address`: browsers have passkeys for host names only, and never for a number such as 127.0.0.1. `unsupported`: this browser has none. */
export function obstacleToPasskeys(): 'address' | 'unsupported' | undefined {
  if (/^\[|^[\d.]+$/.test(location.hostname)) return 'address'
  return hasPasskeys() ? undefined : 'unsupported'
}

/** This page at `localhost`, if it is on this machine. */
export function pageAtLocalhost(): URL | undefined {
  if (!/^127\.|^\[::1\]$/.test(location.hostname)) return undefined
  const url = new URL(location.href)
  url.hostname = 'localhost'
  return url
}
