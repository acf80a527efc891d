// The Carillon that a scenario measures: this checkout, or the one that it is compared with (`--before`). Its own modules prepare its
// database, so that each has its own schema. Another checkout must have these modules under the same names.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export type Checkout = {
  /** 'now' is this checkout. */
  name: 'now' | 'before'
  root: string
}

export const thisCheckout: Checkout = { name: 'now', root: fileURLToPath(new URL('../../', import.meta.url)) }

/** The modules of a checkout, each by its own name, with the types that they have in this checkout. */
export async function modulesOf({ root }: Checkout) {
  const load = <Module>(path: string): Promise<Module> => import(pathToFileURL(join(root, 'server', path)).href)
  const [url, ids, producers, sealing, sessions, tokens, revocations, signingKeys, passwords, store, endpoint] =
    await Promise.all([
      load<typeof import('../../server/config/database-url.ts')>('config/database-url.ts'),
      load<typeof import('../../server/ids.ts')>('ids.ts'),
      load<typeof import('../../server/sign-in/producer-key.ts')>('sign-in/producer-key.ts'),
      load<typeof import('../../server/sign-in/sealing.ts')>('sign-in/sealing.ts'),
      load<typeof import('../../server/sign-in/session.ts')>('sign-in/session.ts'),
      load<typeof import('../../server/sign-in/token/access-token.ts')>('sign-in/token/access-token.ts'),
      load<typeof import('../../server/sign-in/token/revocations.ts')>('sign-in/token/revocations.ts'),
      load<typeof import('../../server/sign-in/token/signing-keys.ts')>('sign-in/token/signing-keys.ts'),
      load<typeof import('../../server/sign-in/password/passwords.ts')>('sign-in/password/passwords.ts'),
      load<typeof import('../../server/store/open.ts')>('store/open.ts'),
      endpointOf(load),
    ])
  return {
    ...url,
    ...ids,
    ...producers,
    ...sealing,
    ...sessions,
    ...tokens,
    ...revocations,
    ...signingKeys,
    ...passwords,
    ...store,
    ...endpoint,
  }
}

export type Modules = Awaited<ReturnType<typeof modulesOf>>

async function endpointOf(load: <Module>(path: string) => Promise<Module>) {
  const [open, endpoint, tables] = await Promise.all([
    load<typeof import('../../server/store/transfer/endpoint/open.ts')>('store/transfer/endpoint/open.ts'),
    load<typeof import('../../server/store/transfer/endpoint/endpoint.ts')>('store/transfer/endpoint/endpoint.ts'),
    load<typeof import('../../server/store/transfer/endpoint/tables.ts')>('store/transfer/endpoint/tables.ts'),
  ])
  return { openEndpoint: open.openEndpoint, placeAfter: endpoint.placeAfter, tables: tables.tables }
}

/** As after `npm ci`: a service whose sources have changed since then would run them instead of its bundle, and start later. */
export async function bundle({ root }: Checkout): Promise<void> {
  // Versions before decision 0056 have no bundle.
  if (!existsSync(join(root, 'tools/bundle.js'))) return
  const { isBundleCurrent }: typeof import('../../server/bin/run.js') = await import(
    pathToFileURL(join(root, 'server/bin/run.js')).href
  )
  // Other processes, such as those of other tests, may be running it.
  if (isBundleCurrent()) return
  const { status, stderr } = spawnSync(process.execPath, ['tools/bundle.js'], { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`tools/bundle.js failed in ${root}: ${stderr}`)
}
