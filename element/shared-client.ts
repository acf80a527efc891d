// One client for all elements of a page that use the same server with the same proof: they share its stream and its lists.
import { type Auth, type Carillon, createCarillon } from 'carillon-client'

export type ClientOptions = { server: string | undefined; token: Exclude<Auth, 'cookie'> | undefined; offline: boolean }

const clients = new WeakMap<object, Map<string, Carillon>>()
const cookie = {}

export function sharedClient({ server = defaultServer, token, offline }: ClientOptions): Carillon {
  const proof = token ?? cookie
  const byServer = clients.get(proof) ?? new Map<string, Carillon>()
  clients.set(proof, byServer)
  const name = `${offline} ${server}`
  let client = byServer.get(name)
  if (!client) {
    const options = { baseUrl: server, auth: token ?? ('cookie' as const), offline }
    client = createCarillon(options)
    byServer.set(name, client)
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
