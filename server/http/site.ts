// What the settings say of this service's addresses, cookies, and permitted sites.
import type { AddressRanges } from '../basics/ip-addresses.ts'

export type Cookie = {
  name: string
  path: string
  isSecure: boolean
  lifetimeMs: number
  sameSite?: 'Strict' | 'Lax'
}

export type Site = {
  /** It is known when the service listens, if no setting has it. */
  publicUrl: () => string
  isHttps: boolean
  hstsSubdomains: boolean
  hosts: readonly string[]
  allowedOrigins: readonly string[]
  /** Where a sign-in may lead; empty for any place of an allowed origin. */
  returnUrls: readonly string[]
  trustedProxies: AddressRanges
  cookie: Cookie
  deviceCookie: Cookie
  variant: 'stateful' | 'stateless'
}
