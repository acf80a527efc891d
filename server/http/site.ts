import type { AddressRanges } from '../basics/ip-addresses.ts'

export type Cookie = {
  name: string
  path: string
  isSecure: boolean
  lifetimeMs: number
  sameSite?: 'Strict' | 'Lax'
}

export type Site = {
  /** Without a setting, it is known only when the service listens. */
  publicUrl: () => string
  isHttps: boolean
  hstsSubdomains: boolean
  hosts: readonly string[]
  allowedOrigins: readonly string[]
  /** Where a sign-in may lead. If empty: any place of an allowed origin. */
  returnUrls: readonly string[]
  trustedProxies: AddressRanges
  cookie: Cookie
  deviceCookie: Cookie
  variant: 'stateful' | 'stateless'
}
