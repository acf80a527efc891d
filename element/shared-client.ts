// One client for all elements of a page that use the same server with the same proof: they share its stream and its lists.
import { type Auth, type Carillon, createCarillon } from 'carillon-client'

const clients = new WeakMap<object, Map<string | undefined, Carillon>>()
const cookie = {}

export function sharedClient(server = defaultServer, auth?: Auth): Carillon {
  const proof = typeof auth === 'function' ? auth : cookie
  const byServer = clients.get(proof) ?? new Map<string | undefined, Carillon>()
  clients.set(proof, byServer)
  const client = byServer.get(server) ?? createCarillon({ baseUrl: server, auth })
  byServer.set(server, client)
  return client
}

/**
 * The Carillon that served this script, including the path prefix if it has one. Undefined, which means the origin of the
 * page, if the script is in an application's own bundle: only Carillon serves it under a name with a hash.
 */
export const defaultServer: string | undefined = /^(https?:.*\/)carillon-scripts\/carillon-inbox-[0-9a-f]+\.js$/i.exec(
  import.meta.url,
)?.[1]
