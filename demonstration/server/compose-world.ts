// Composes the worlds of the demonstration: each is the product itself on a temporary SQLite database, with the defaults of all settings,
// and with keys, cookies and a clock of its own.
import { Clock, type TimeSources } from '../../server/basics/clock.ts'
import type { Log } from '../../server/basics/log.ts'
import { type Composition, compose } from '../../server/compose.ts'
import { readConfig } from '../../server/config/read.ts'
import type { Config } from '../../server/config/settings.ts'
import type { Cookie } from '../../server/http/site.ts'
import { openStore } from '../../server/open-store.ts'
import type { Passwords } from '../../server/passwords/passwords.ts'
import type { Sessions } from '../../server/sessions/sessions.ts'
import type { Store } from '../../server/store/store.ts'
import type { SigningKeys } from '../../server/tokens/signing-keys.ts'
import type { Outage } from './outage.ts'
import type { ChildSettings } from './settings.ts'
import { observed, observedStore } from './trace.ts'

/** A service that does not listen, with the parts that the controls of the page need. */
export type ComposedService = Pick<Composition, 'app' | 'users' | 'deliveries'> & {
  config: Config
  /** The store during an outage, too. */
  store: Store
  keys: SigningKeys
  sessions: Sessions
  now: () => number
  /** Ends its streams and timers, and closes the database. */
  end(): Promise<void>
}
/** What a world has in place of the service's own, and `onRead`, which is called for each read of the database. */
export type Surroundings = {
  database: string
  sources: TimeSources
  outage: Outage
  onRead: () => void
  cookies: { cookie: Cookie; deviceCookie: Cookie }
}
/** What all worlds share: one hash at a time for all visitors, and no log, because the sign-ins of a world are no events of the service. */
export type Shared = { settings: ChildSettings; log: Log; passwords: Passwords }

export async function composeWorld(place: Surroundings, shared: Shared): Promise<ComposedService> {
  const { settings, log, passwords } = shared
  const clock = new Clock(place.sources, () => {})
  const config = configOf(settings, place.database)
  const { store } = await openStore(config.database)
  const parts = new Map<string, object>()
  const observe = <Part extends object>(name: string, part: Part) => {
    const wrapped = observed(name, part)
    parts.set(name, wrapped)
    return wrapped
  }
  try {
    const composition = await compose(observedStore(place.outage.around(store), place.onRead), config, {
      log,
      clock,
      random: Math.random,
      url: () => config.publicUrl as string,
      // A token that is remembered would hide that its signature is checked.
      own: { passwords, cookies: place.cookies, observed: observe, cachedTokens: 0 },
    })
    await composition.app.ready()
    composition.readiness.isReady = true
    const [keys, sessions] = [parts.get('keys') as SigningKeys, parts.get('sessions') as Sessions]
    const { app, users, deliveries } = composition
    return { app, users, deliveries, config, store, keys, sessions, now: clock.now, end: () => end(composition, store) }
  } catch (error) {
    await store.close()
    throw error
  }
}

/**
 * What the operator has set for the service does not apply, but for the addresses at which it is reached, and HSTS: a browser keeps the
 * last policy that a host has sent.
 */
function configOf({ url, prefix, hosts, hstsSubdomains }: ChildSettings, path: string): Config {
  return {
    ...readConfig({}),
    database: { engine: 'sqlite', path },
    publicUrl: `${url}${prefix}/demonstration/service`,
    allowedHosts: [...hosts],
    hstsSubdomains,
    demonstration: false,
    streams: 8,
  }
}

async function end(composition: Composition, store: Store): Promise<void> {
  await composition.endStreams()
  await composition.app.close()
  await composition.end()
  await store.close()
}
