// Sign-in, sign-out, and the user who is signed in. Each method sends one request.
import type { Connection } from './store/connection.ts'
import {
  type Call,
  type CallOptions,
  nullIfSignedOut,
  type Requests,
} from './transport/requests.ts'
import type * as wire from './transport/types.ts'

export type SignIn = {
  /**
   * `POST /login`: signs in. Without `variant`, the setting of the server decides. Throws
   * INVALID_CREDENTIALS, also for an unknown or disabled user, or SECOND_FACTOR_REQUIRED.
   *
   * @example await carillon.login({ username: 'ann', password, variant: 'stateful' })
   */
  login(
    credentials: wire.Credentials & { variant: 'stateful' },
    options?: CallOptions,
  ): Promise<wire.StatefulLogin>
  login(
    credentials: wire.Credentials & { variant: 'stateless' },
    options?: CallOptions,
  ): Promise<wire.StatelessLogin>
  login(
    credentials: wire.Credentials & { variant?: wire.Variant },
    options?: CallOptions,
  ): Promise<wire.StatefulLogin | wire.StatelessLogin>
  /**
   * `POST /login/second-factor`: completes a `login` that threw SECOND_FACTOR_REQUIRED, with the
   * `challenge` of that error and a code, a recovery code or a passkey. Throws UNAUTHORIZED if the
   * challenge has ended: sign in again.
   */
  completeSignIn(
    factor: wire.SecondFactor,
    options?: CallOptions,
  ): Promise<wire.StatefulLogin | wire.StatelessLogin>
  /** `GET /routeRestreinte`: the user of the proof. Throws Unauthorized without a valid proof. */
  restricted(options?: CallOptions): Promise<wire.Restricted>
  /** `GET /api/session`, with a token `GET /api/me`: who is signed in. Null if no user is. */
  me(options?: CallOptions): Promise<wire.Me | null>
  /**
   * `POST /token/renew`: a new token for one that is still valid. The token is an argument, so that
   * the `auth` function can call it. Throws UNAUTHORIZED if the token has expired, or if its
   * sign-in is too long ago.
   */
  renew(token: string, options?: CallOptions): Promise<wire.StatelessLogin>
  /** `POST /api/me/token`: a token of the session, by which your own backend knows who calls. */
  token(options?: CallOptions): Promise<wire.IssuedToken>
  /** `POST /logout`: ends this sign-in, then calls `signOut`. No error if no user is signed in. */
  logout(options?: CallOptions): Promise<void>
  /**
   * Ends what the page keeps of the user, without a request: token, stream, open lists, and calls
   * without a response, which throw UNAUTHORIZED. Call it after your application has signed the
   * user out. Only `logout` ends the session of a cookie.
   */
  signOut(): void
}

export function signInOf(requests: Requests, user: Connection): SignIn {
  let deviceToken: string | undefined
  const signedIn = async (call: Call) => {
    const response = await requests.signIn<wire.StatelessLogin>(call)
    deviceToken = response.deviceToken ?? deviceToken
    user.lookAgain()
    return response as never
  }
  return {
    async login(credentials: wire.Credentials & { variant?: wire.Variant }, options?: CallOptions) {
      const body = JSON.stringify({ deviceToken, ...credentials }, [
        'username',
        'password',
        'variant',
        'deviceToken',
      ])
      return signedIn({ ...options, path: 'login', body })
    },
    async completeSignIn(factor, options) {
      const { withPasskey } = await import('./passkeys.ts')
      const body = { deviceToken, ...(await withPasskey(requests, factor, options)) }
      return signedIn({ ...options, path: 'login/second-factor', body })
    },
    restricted: (options) => requests.data({ ...options, path: 'routeRestreinte' }),
    me: (options) => requests.me(options),
    renew: (token, options) =>
      requests.signIn({
        ...options,
        path: 'token/renew',
        headers: { authorization: `Bearer ${token}` },
      }),
    token: (options) => requests.data({ ...options, method: 'POST', path: 'api/me/token' }),
    async logout(options) {
      await nullIfSignedOut(requests.nothing({ ...options, method: 'POST', path: 'logout' }))
      // The other tabs of a user with tokens have sign-ins of their own.
      user.signOut(false)
    },
    signOut: () => user.signOut(),
  }
}
