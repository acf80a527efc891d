// Composes the worlds of the demonstration: each is the product itself on a temporary SQLite database, with the defaults of all settings,
// and with keys, cookies and a clock of its own. Loaded by the first request for one.
import { tmpdir } from 'node:os'
import { Clock, type TimeSources } from '../basics/clock.ts'
import { messageOf } from '../basics/errors.ts'
import { createLog, type Log } from '../basics/log.ts'
import { type Composition, compose } from '../compose.ts'
import { readConfig } from '../config/read.ts'
import type { Config } from '../config/settings.ts'
import { observed, observedStore } from '../demonstration/trace.ts'
import type { ComposedService, ServicePlace } from '../demonstration/world.ts'
import { Worlds } from '../demonstration/worlds.ts'
import { openStore } from '../open-store.ts'
import { type HashCost, Passwords } from '../passwords/passwords.ts'
import type { Store } from '../store/store.ts'
import { addUser, disableUser, enableUser } from '../users/users.ts'
import { demonstrationSettings } from './page-settings.ts'

type Surroundings = {
  config: Config
  log: Log
  sources: TimeSources
  hashCost: HashCost | undefined
  random: () => number
  url: () => string
}

export async function openWorlds(surroundings: Surroundings): Promise<Worlds> {
  const { config, log, sources, hashCost, url } = surroundings
  // The sign-ins of a world are no events of this service, and its outages no failures.
  const silent = await createLog({ level: 'silent', isTerminal: false })
  // One hash at a time for all visitors together: the sign-ins of the service's own users keep the other threads.
  const passwords = new Passwords({ threads: 1, cost: hashCost })
  const { hasTrace } = demonstrationSettings(config)
  const base = () => `${new URL(url()).pathname.replace(/\/$/, '')}${config.pagesPrefix}/demonstration`
  return new Worlds({
    parent: tmpdir(),
    hasTrace,
    wall: sources.wall,
    monotonic: sources.monotonic,
    base,
    isSecure: () => url().startsWith('https:'),
    onFailure: (error) =>
      log.warn({ event: 'leftovers-not-removed', reason: messageOf(error) }, 'a demonstration could not be removed'),
    compose: (place) => composeWorld(place, { ...surroundings, log: silent, passwords, hasTrace }),
  })
}

type Shared = Surroundings & { passwords: Passwords; hasTrace: boolean }

async function composeWorld(place: ServicePlace, shared: Shared): Promise<ComposedService> {
  const { sources, random, url, log, passwords, hasTrace, config } = shared
  const clock = new Clock(
    { wall: () => sources.wall() + place.offsetMs(), monotonic: () => sources.monotonic() + place.offsetMs() },
    () => {},
  )
  const settings = settingsOf(config, { database: place.database, url: url() })
  const { store } = await openStore(settings.database)
  try {
    const away = place.outage.around(store)
    const own = { passwords, cookies: place.cookies, ...(hasTrace && { observed }) }
    const composition = await compose(hasTrace ? observedStore(away) : away, settings, {
      log,
      clock,
      random,
      url: () => settings.publicUrl as string,
      own,
    })
    await composition.app.ready()
    composition.readiness.isReady = true
    return serviceOf(composition, store)
  } catch (error) {
    await store.close()
    throw error
  }
}

/**
 * What the operator has set for this service does not apply, but for the addresses at which it is reached, and HSTS: a browser keeps the
 * last policy that a host has sent.
 */
function settingsOf(config: Config, { database, url }: { database: string; url: string }): Config {
  return {
    ...readConfig({}),
    database: { engine: 'sqlite', path: database },
    publicUrl: `${url}${config.pagesPrefix}/demonstration/service`,
    allowedHosts: [config.host, ...config.allowedHosts],
    trustedProxies: config.trustedProxies,
    hstsSubdomains: config.hstsSubdomains,
    demonstration: false,
    streams: 8,
  }
}

function serviceOf(composition: Composition, store: Store): ComposedService {
  const { app, users, deliveries } = composition
  return {
    handle: app.routing,
    async addUser(credentials) {
      return (await addUser(users, { ...credentials, isGenerated: true })).id
    },
    async deliver(userId, title) {
      const { results } = await deliveries.deliver('demonstration', { recipients: [{ userId }], title })
      return results[0]?.id ?? ''
    },
    async revokeAll(id) {
      await disableUser(users, { id })
      await enableUser(users, { id })
    },
    async end() {
      await composition.endStreams()
      await app.close()
      await composition.end()
      await store.close()
    },
  }
}
