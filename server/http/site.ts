// What the settings say of the addresses of this service, of its cookies, and of the sites that may use it.
import type { AddressRanges } from '../basics/ip-addresses.ts'

/** `path`: where browsers send it, seen from outside: the path of the public URL. */
export type Cookie = { name: string; path: string; isSecure: boolean; lifetimeMs: number; sameSite?: 'Strict' | 'Lax' }

export type Site = {
  /** The public URL, without a slash at its end. If it is not a setting, it is known only after the service listens. */
  publicUrl: () => string
  isHttps: boolean
  hstsSubdomains: boolean
  /** Host names under which the service accepts requests without `Authorization`, besides `localhost` and addresses. */
  hosts: readonly string[]
  allowedOrigins: readonly string[]
  /** The only URLs to which a sign-in may lead, besides pages of the service; any place of an allowed origin if there are none. */
  returnUrls: readonly string[]
  trustedProxies: AddressRanges
  cookie: Cookie
  deviceCookie: Cookie
  /** The variant of a login that does not name one. */
  variant: 'stateful' | 'stateless'
}
