// Prepares the database before the service starts: users and proofs, created by the modules of the checkout that is measured, and filled
// inboxes (fill.ts).
import type { Store } from '../../server/store/store.ts'
import type { ProofLine } from '../load/requests.ts'
import { type Checkout, type Modules, modulesOf } from './checkout.ts'
import { type Filling, fillDatabase } from './fill.ts'
import { databaseIn, publicUrl, secret } from './service.ts'

export type Reader = { userId: string; username: string; cookies: ProofLine[]; tokens: ProofLine[] }
export type Prepared = { readers: Reader[]; producer: ProofLine }
/** A checkout, and the folder of its SQLite database. A Bench is one. */
export type Place = { checkout: Checkout; dir: string }

const dayMs = 86_400_000
const now = Date.now
/** Users created in parallel: few enough that each call gets a PostgreSQL connection in time on a busy machine. */
const maxAtOnce = 50

type Preparation = { users: number; proofs: number; passwordHash?: string }

/** Creates users with `proofs` proofs of each variant. `passwordHash` matters only if they sign in by password. */
export function prepareReaders({ checkout, dir }: Place, preparation: Preparation): Promise<Prepared> {
  return prepareReadersAt(checkout, urlIn(dir), preparation)
}

/** As `prepareReaders`, in any database. */
export async function prepareReadersAt(
  checkout: Checkout,
  url: string,
  { users, proofs, passwordHash = 'unused' }: Preparation,
): Promise<Prepared> {
  const modules = await modulesOf(checkout)
  const { store } = await modules.openStore(modules.readDatabaseUrl(url))
  try {
    const issue = await issuers(modules, store)
    const names = Array.from({ length: users }, (_, i) => `reader-${i + 1}`)
    const readers: Reader[] = []
    for (let at = 0; at < names.length; at += maxAtOnce)
      readers.push(
        ...(await Promise.all(
          names.slice(at, at + maxAtOnce).map(async (username) => {
            const user = { id: modules.newId(now()), username, displayName: null, createdAt: now(), passwordHash }
            await store.addUser(user)
            const times = Array.from({ length: proofs })
            const cookies = await Promise.all(times.map(() => issue.cookie({ ...user, credentialGeneration: 0 })))
            const tokens = await Promise.all(times.map(() => issue.token(user)))
            return { userId: user.id, username, cookies, tokens }
          }),
        )),
      )
    return { readers, producer: await issue.producer() }
  } finally {
    await store.close()
  }
}

/** The store of the checkout, in this process. */
export async function openStoreIn({ checkout, dir }: Place): Promise<Store> {
  const { openStore, readDatabaseUrl } = await modulesOf(checkout)
  return (await openStore(readDatabaseUrl(urlIn(dir)))).store
}

async function issuers(modules: Modules, store: Store) {
  const keys = await modules.SigningKeys.open({
    store,
    sealing: new modules.Sealing({ current: secret }),
    now,
    lifetimeMs: Number.POSITIVE_INFINITY,
    onFailure: () => {},
  })
  keys.end()
  const revocations = await modules.TokenRevocations.load({ store, now, wall: now, keepMs: 0 }, () => {})
  const accessTokens = new modules.AccessTokens({
    keys,
    revocations,
    now,
    issuer: () => publicUrl,
    lifetimeMs: 15 * 60_000,
    chainMs: dayMs,
  })
  const sessions = new modules.Sessions({ store, revocations, now, idleMs: dayMs, lifetimeMs: dayMs })
  const producers = new modules.ProducerKeys({ store, now })
  type User = Parameters<(typeof sessions)['issue']>[0]
  const signIn = () => ({ replaces: [], signInId: modules.newId(now()), device: null, address: null })
  return {
    cookie: async (user: User) => `Cookie: carillon=${(await sessions.issue(user, signIn())).secret}`,
    token: async (user: { id: string; username: string }) =>
      `Authorization: Bearer ${(await accessTokens.issue({ ...user, credentialGeneration: 0 }, modules.newId(now()))).token}`,
    producer: async () =>
      `Authorization: Bearer ${(await producers.issue({ name: 'bench', scopes: ['send', 'users'], expiresAt: null })).key}`,
  }
}

export function fillInboxes({ checkout, dir }: Place, filling: Filling): Promise<void> {
  return fillDatabase(checkout, urlIn(dir), filling)
}

export function urlIn(dir: string): string {
  return `sqlite:${databaseIn(dir)}`
}
