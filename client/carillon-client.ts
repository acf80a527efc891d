// The entry point of the package.
import { type Inbox, inboxOf } from './inbox.ts'
import { type Producer, producerOf } from './producer/producer.ts'
import type { Push } from './push/browser-push.ts'
import { type SignIn, signInOf } from './sign-in.ts'
import type { OpenList, OpenOptions } from './store/inbox-list.ts'
import { Source } from './store/source.ts'
import { type Auth, type Connection, Requests } from './transport/requests.ts'

export type Carillon = SignIn & {
  inbox: Inbox & {
    /**
     * Opens a list that the client keeps up to date. Lists with equal options share their requests,
     * and all share one stream. `close` each list. Throws TypeError for invalid options.
     *
     * @example const list = carillon.inbox.open({ status: 'unread' })
     */
    open(options?: OpenOptions): OpenList
  }
  /** Web push in this browser. */
  push: Push
}

export type CarillonOptions = Connection & {
  /** Default: `'cookie'`. */
  auth?: Auth | undefined
}

/**
 * A client for one user: sign-in and inbox. Throws TypeError if `baseUrl` is not a URL.
 *
 * @example const carillon = createCarillon({ baseUrl: 'https://bell.example' })
 */
export function createCarillon({ auth = 'cookie', ...connection }: CarillonOptions = {}): Carillon {
  const requests = new Requests(connection, auth)
  const inbox = inboxOf(requests)
  const source = new Source(requests, inbox)
  return {
    ...signInOf(requests, source.connection),
    inbox: { ...inbox, open: (options) => source.open(options) },
    push: pushOf(requests),
  }
}

/** Loaded when it is used. */
export function pushOf(requests: Requests): Push {
  const load = () => import('./push/browser-push.ts')
  return {
    state: async (options) => (await load()).state(requests, options),
    turnOn: async (options) => (await load()).turnOn(requests, options),
    turnOff: async (options) => (await load()).turnOff(requests, options),
    tidy: async (list, options) => (await load()).tidy(requests, list, options),
  }
}

/**
 * The client of an application that sends, or keeps its users here. `carillon key add` prints the
 * `key`; keep it out of pages. Throws TypeError without one.
 *
 * @example const producer = createProducer({ baseUrl: 'https://bell.example', key })
 */
export function createProducer({ key, ...connection }: Connection & { key: string }): Producer {
  if (!key?.trim())
    throw new TypeError('key is empty: pass the producer key, which carillon key add NAME prints')
  return producerOf(new Requests(connection, () => key))
}

export type { ChangesOptions, Inbox, ListOptions, ListStatus, ReadAllOptions } from './inbox.ts'
export type { Categories, EventOptions, Producer, SendOptions } from './producer/producer.ts'
export type { TokenOptions, UserName, Users, UsersOptions } from './producer/users.ts'
export { finishSignIn, signInWith } from './provider-sign-in.ts'
export type { Push, PushOptions, PushState } from './push/browser-push.ts'
export type { SignIn } from './sign-in.ts'
export type {
  InboxList,
  InboxSnapshot,
  ListState,
  OpenList,
  OpenOptions,
} from './store/inbox-list.ts'
export type { StreamOptions } from './stream/subscription.ts'
export type { ClientErrorCode, ErrorCode, ServerErrorCode } from './transport/errors.ts'
export { CarillonError, isCarillonError } from './transport/errors.ts'
export type { Auth, CallOptions, Connection } from './transport/requests.ts'
export type { TokenReason, TokenRequest, TokenResult } from './transport/tokens.ts'
export type * from './transport/types.ts'
