// One client for all elements of a page that use the same server with the same proof: they share its stream and its lists.
import { type Auth, type Carillon, createCarillon } from 'carillon-client'

export type ClientOptions = { server: string | undefined; auth: Auth | undefined }

const clients = new WeakMap<object, Map<string | undefined, Carillon>>()
const cookie = {}

export function sharedClient({ server = defaultServer, auth }: ClientOptions): Carillon {
  const proof = typeof auth === 'function' ? auth : cookie
  const byServer = clients.get(proof) ?? new Map<string | undefined, Carillon>()
  clients.set(proof, byServer)
  let client = byServer.get(server)
  if (!client) {
    client = createCarillon({ baseUrl: server, auth })
    byServer.set(server, client)
  }
  return client
}

/**
 * The Carillon that served this script, including the path prefix if it has one. Undefined, which means the origin of the
 * page, if the script is in an application's own bundle: only Carillon serves it under a name with a hash.
 */
export const defaultServer: string | undefined = serverOf(import.meta.url)

export function serverOf(script: string): string | undefined {
  return /^(https?:.*\/)carillon-scripts\/carillon-inbox-[0-9a-f]+\.js$/i.exec(script)?.[1]
}
