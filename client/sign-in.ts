// Signing in and out, and who is signed in.
import type { CallOptions, Requests } from './transport/requests.ts'
import type { Credentials, Me, Restricted, StatefulLogin, StatelessLogin, Variant } from './transport/types.ts'

export type SignIn = {
  /**
   * `POST /login`. Without `variant` the server's setting decides. Throws INVALID_CREDENTIALS alike for an unknown user, a
   * wrong password and a disabled user.
   */
  login(credentials: Credentials & { variant: 'stateful' }, options?: CallOptions): Promise<StatefulLogin>
  login(credentials: Credentials & { variant: 'stateless' }, options?: CallOptions): Promise<StatelessLogin>
  login(
    credentials: Credentials & { variant?: Variant },
    options?: CallOptions,
  ): Promise<StatefulLogin | StatelessLogin>
  /** `GET /routeRestreinte`. Throws Unauthorized without valid proof. */
  restricted(options?: CallOptions): Promise<Restricted>
  /** `GET /api/me`. Throws UNAUTHORIZED without valid proof. */
  me(options?: CallOptions): Promise<Me>
  /**
   * `POST /token/renew`: a fresh token for a valid one. It takes the token itself, so that the callback which tells this
   * client its token may use it. Throws UNAUTHORIZED for one that has expired, or whose sign-in is too long ago.
   */
  renew(token: string, options?: CallOptions): Promise<StatelessLogin>
  /** `POST /logout`: ends the session, or the tokens of this sign-in. No error where there was nothing to end. */
  logout(options?: CallOptions): Promise<void>
}

export function signInOf(requests: Requests): SignIn {
  return {
    login: ({ username, password, variant }: Credentials & { variant?: Variant }, { signal }: CallOptions = {}) =>
      requests.signIn<never>({
        method: 'POST',
        path: 'login',
        body: JSON.stringify({ username, password, variant }),
        isOpen: true,
        signal,
      }),
    restricted: (options) => requests.data({ ...options, path: 'routeRestreinte' }),
    me: (options) => requests.data({ ...options, path: 'api/me' }),
    renew: (token, options) =>
      requests.signIn({
        ...options,
        method: 'POST',
        path: 'token/renew',
        headers: { authorization: `Bearer ${token}` },
        isOpen: true,
      }),
    async logout(options) {
      await requests.nothing({ ...options, method: 'POST', path: 'logout' })
      requests.forget()
    },
  }
}
