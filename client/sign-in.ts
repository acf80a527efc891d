// Sign-in, sign-out, and the user who is signed in. Each method sends one request.
import { isCarillonError } from './transport/errors.ts'
import type { Call, CallOptions, Requests } from './transport/requests.ts'
import type {
  Credentials,
  IssuedToken,
  Me,
  Restricted,
  StatefulLogin,
  StatelessLogin,
  Variant,
} from './transport/types.ts'

export type SignIn = {
  /**
   * `POST /login`. Without `variant` the setting of the server decides. Throws INVALID_CREDENTIALS for an unknown user, a
   * wrong password and a disabled user, without a difference.
   */
  login(credentials: Credentials & { variant: 'stateful' }, options?: CallOptions): Promise<StatefulLogin>
  login(credentials: Credentials & { variant: 'stateless' }, options?: CallOptions): Promise<StatelessLogin>
  login(
    credentials: Credentials & { variant?: Variant },
    options?: CallOptions,
  ): Promise<StatefulLogin | StatelessLogin>
  /** `GET /routeRestreinte`. Throws Unauthorized without a valid proof. */
  restricted(options?: CallOptions): Promise<Restricted>
  /** `GET /api/session`, with a token `GET /api/me`: who is signed in. Null if no user is, which is no error. */
  me(options?: CallOptions): Promise<Me | null>
  /**
   * `POST /token/renew`: a new token for one that is still valid. The token is an argument, so that the `auth` function
   * can call this method. Throws UNAUTHORIZED if the token has expired, or if its sign-in is too long ago.
   */
  renew(token: string, options?: CallOptions): Promise<StatelessLogin>
  /** `POST /api/me/token`: a token of the signed-in session, by which a backend of your own can know who calls. */
  token(options?: CallOptions): Promise<IssuedToken>
  /** `POST /logout`: ends the session, or revokes the tokens of this sign-in. No error if no user is signed in. */
  logout(options?: CallOptions): Promise<void>
}

/** `onChange` is called after a sign-in and after a sign-out. */
export function signInOf(requests: Requests, onChange = () => {}): SignIn {
  /** Of the last stateless sign-in of this client. A page that wants to keep it longer passes it with the credentials. */
  let deviceToken: string | undefined
  return {
    async login(credentials: Credentials & { variant?: Variant }, options?: CallOptions) {
      const body = JSON.stringify({ deviceToken, ...credentials }, ['username', 'password', 'variant', 'deviceToken'])
      const response = await requests.signIn<StatelessLogin>({ ...options, path: 'login', body })
      deviceToken = response.deviceToken ?? deviceToken
      onChange()
      return response as never
    },
    restricted: (options) => requests.data({ ...options, path: 'routeRestreinte' }),
    me: (options) => requestMe(requests, options),
    renew: (token, options) =>
      requests.signIn({ ...options, path: 'token/renew', headers: { authorization: `Bearer ${token}` } }),
    token: (options) => requests.data({ ...options, method: 'POST', path: 'api/me/token' }),
    async logout(options) {
      await requests.nothing({ ...options, method: 'POST', path: 'logout' })
      requests.tokens?.forget()
      onChange()
    },
  }
}

/** A browser displays a 401 as an error of the page, so a page with a cookie uses the route that has none. */
export async function requestMe(requests: Requests, options?: Omit<Call, 'path'>): Promise<Me | null> {
  // With a token, a 401 is how the client learns that it needs another one.
  const path = requests.tokens ? 'api/me' : 'api/session'
  try {
    return await requests.data<Me | null>({ ...options, path })
  } catch (error) {
    if (isCarillonError(error, 'UNAUTHORIZED')) return null
    throw error
  }
}
