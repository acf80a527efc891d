// For tests, inside a page of the browser: an open list of a client with `offline`, and everything that it showed.
import { type Carillon, type CarillonOptions, createCarillon, type InboxList } from '../../../carillon-client.ts'

class OfflineTab {
  #list: InboxList | undefined
  carillon: Carillon | undefined
  /** Each snapshot as text. */
  readonly shown: string[] = []
  readonly failures: string[] = []

  open(options: Pick<CarillonOptions, 'offline'> & { token?: string; tokenError?: string } = { offline: true }): void {
    const { offline, token, tokenError } = options
    const auth = () => {
      if (tokenError !== undefined) throw new RangeError(tokenError)
      return token ?? ''
    }
    this.carillon = createCarillon(token || tokenError ? { offline, auth } : { offline })
    this.#list = this.carillon.inbox.open()
    this.#list.subscribe(() => this.#record())
    this.#record()
  }

  act(type: 'read' | 'unread' | 'readAll', index = 0): void {
    const id = this.#list?.getSnapshot().items[index]?.id ?? ''
    this.#record(type === 'readAll' ? this.#list?.readAll() : this.#list?.[type](id))
  }

  read(id: string): void {
    this.#record(this.#list?.read(id))
  }

  close(): void {
    this.#list?.close()
  }

  /** Everything in the databases of this page's origin, as JSON. */
  async stored(): Promise<string> {
    const databases = await indexedDB.databases()
    const contents = databases.map(async ({ name = '' }) => {
      const database = await done(indexedDB.open(name))
      const names = [...database.objectStoreNames]
      const all = names.map((store) => done(database.transaction(store).objectStore(store).getAll()))
      const rows = await Promise.all(all)
      database.close()
      return rows
    })
    return JSON.stringify(await Promise.all(contents))
  }

  #record(acting?: Promise<void>): void {
    acting?.catch(({ code }) => this.failures.push(code))
    const { state, unread, items } = this.#list?.getSnapshot() ?? {}
    const titles = items?.map(({ title, read }) => title + (read ? ', read' : ''))
    const text = [`${unread} unread, ${state}`, ...(titles ?? [])].join('; ')
    if (this.shown.at(-1) !== text) this.shown.push(text)
  }
}

function done<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = reject
  })
}

declare global {
  var offline: OfflineTab
}
globalThis.offline = new OfflineTab()
