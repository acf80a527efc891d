import { readDatabaseUrl } from '../../server/config/database-url.ts'
import { World } from '../../server/contract/world.ts'
import { openStore } from '../../server/open-store.ts'

/** The store and the world of a database that other processes use, too. Its end closes the store. */
export async function openWorld(url: string) {
  const { store } = await openStore(readDatabaseUrl(url))
  return { store, world: await World.on(store), [Symbol.asyncDispose]: () => store.close() }
}
