import { type CallOptions, idInPath, nameInPath, type Requests } from '../transport/requests.ts'
import type * as wire from '../transport/types.ts'

/** By Carillon's id, or by the application's own. */
export type UserName = { id: string } | { externalId: string }

export type UsersOptions = CallOptions & {
  /** Only users whose username, display name, e-mail address or external id contains it. */
  search?: string | undefined
  externalId?: string | undefined
  /** The `next` of an earlier page. */
  after?: string | undefined
  /** 1 to 100; default 20. */
  limit?: number | undefined
}

export type TokenOptions = CallOptions & {
  /** Seconds, 1 to 900; default 900. */
  lifetime?: number | undefined
}

/** A method throws NOT_FOUND if there is no such user. */
export type Users = {
  /**
   * `PUT /api/users/external/:externalId`: creates the user, or changes the given fields.
   *
   * @example await producer.users.put('customer-42', { displayName: 'Kim', locale: 'de-CH' })
   */
  put(
    externalId: string,
    profile?: wire.UserProfile,
    options?: CallOptions,
  ): Promise<wire.UserAccount>
  /** `PUT /api/users`: the same for 1 to 1,000 users. If one has a fault, none is changed. */
  putAll(users: readonly wire.UserEntry[], options?: CallOptions): Promise<wire.UserPut[]>
  /** `POST /api/users`: creates a user who signs in here. Throws CONFLICT if the username or the external id is taken. */
  create(user: wire.NewUser, options?: CallOptions): Promise<wire.UserAccount>
  /** `GET /api/users`: a page, in the order of creation. */
  list(options?: UsersOptions): Promise<wire.UserPage>
  /** `GET /api/users/external/:externalId` or `GET /api/users/:id`: one user. */
  get(user: UserName, options?: CallOptions): Promise<wire.UserAccount>
  /** `PATCH /api/users/...`: changes the given fields. `disabled` ends every session and token. */
  update(user: UserName, change: wire.UserChange, options?: CallOptions): Promise<wire.UserAccount>
  /** `DELETE /api/users/...`: erases the user with inbox, sessions and tokens. */
  delete(user: UserName, options?: CallOptions): Promise<void>
  /** `DELETE .../sessions`: ends every session and token; the user can sign in again. */
  signOut(user: UserName, options?: CallOptions): Promise<void>
  /**
   * `POST .../tokens`: issues a token that opens the inbox of the user, for your own pages.
   *
   * @example const { token } = await producer.users.issueToken({ externalId: 'customer-42' })
   */
  issueToken(user: UserName, options?: TokenOptions): Promise<wire.IssuedToken>
  /** `DELETE .../tokens`: revokes all issued tokens of the user. */
  revokeTokens(user: UserName, options?: CallOptions): Promise<void>
}

export function usersOf(requests: Requests): Users {
  return {
    put: async (externalId, profile = {}, options) =>
      requests.data({ ...options, method: 'PUT', path: pathOf({ externalId }), body: profile }),
    async putAll(users, options) {
      const call = { ...options, method: 'PUT', path: 'api/users', body: { users } } as const
      return (await requests.data<{ results: wire.UserPut[] }>(call)).results
    },
    create: async (user, options) =>
      requests.data({ ...options, method: 'POST', path: 'api/users', body: user }),
    list: ({ signal, ...query } = {}) => requests.data({ path: 'api/users', query, signal }),
    get: async (user, options) => requests.data({ ...options, path: pathOf(user) }),
    update: async (user, change, options) =>
      requests.data({ ...options, method: 'PATCH', path: pathOf(user), body: change }),
    delete: async (user, options) =>
      requests.nothing({ ...options, method: 'DELETE', path: pathOf(user) }),
    signOut: async (user, options) =>
      requests.nothing({ ...options, method: 'DELETE', path: `${pathOf(user)}/sessions` }),
    issueToken: async (user, { lifetime, signal } = {}) =>
      requests.data({
        method: 'POST',
        path: `${pathOf(user)}/tokens`,
        body: { scope: 'inbox', lifetime },
        signal,
      }),
    revokeTokens: async (user, options) =>
      requests.nothing({ ...options, method: 'DELETE', path: `${pathOf(user)}/tokens` }),
  }
}

export function pathOf(user: UserName): string {
  if ('id' in user) return `api/users/${idInPath(user.id, 'There is no such user')}`
  return `api/users/external/${nameInPath(user.externalId, 'an externalId')}`
}
